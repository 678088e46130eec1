// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/dataset/export_registry.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/storage/overwrite.h>

#include "commands.h"
#include "json_document.h"
#include "result_input.h"
#include "run_options.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

class ExportCommand final : public Command {
 public:
  std::string name() const override { return "export"; }

  std::string summary() const override { return "A result for other software"; }

  std::string description() const override {
    return "Writes a result in the format of other software: tables for spreadsheets, grids for "
           "ParaView, surfaces for the scripts of loss-landscape.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope export result.h5 -o result.csv",
        "hesscope export landscape.h5 -o surface.vtk",
        "hesscope export landscape.h5 --format losslandscape -o surface.h5",
    };
  }

  void declare(OptionTable& options) override {
    std::vector<std::string> names;
    std::string help =
        "What to write (default: what the ending of FILE says, csv for .txt or none)";
    for (const io::ExportKind& format : io::export_kinds()) {
      names.push_back(format.name);
      help += fmt::format("\n{}: {}", format.name, format.summary);
    }
    options.group("Input");
    options.positional("RESULT", result_, "Result file");
    options.group("Output");
    options.choice("--format", format_, names, help);
    options
        .output(output_,
                "FILE",
                "File to write; the trajectory of a landscape goes into a second one next to it, "
                "as in FILE-trajectory.vtk")
        .required();
    force_.declare(options, "Replace existing files of the same format");
    options.how_to_print(json_, quiet_);
  }

  ExitCode run() override {
    require_apart(output_, {result_}, "the result itself");
    const io::ExportKind& format = chosen_format();
    const io::ResultReader result = open_result(result_);
    for (const std::filesystem::path& file : io::files_of_export(format, result, output_)) {
      io::require_replaceable(
          file,
          force_.overwrite(),
          fmt::format("a file in the format {} by hesscope export", format.name),
          [&] { return io::begins_with(file, format.beginnings) && !io::is_result_file(file); });
    }
    const std::vector<std::filesystem::path> files =
        format.write(result, output_, io::existing_of(force_.overwrite()));
    if (json_) {
      Json document;
      document["command"] = "export";
      document["result"] = result_;
      document["format"] = format.name;
      document["output"] = output_;
      document["files"] = Json::list();
      for (const std::filesystem::path& file : files) document["files"].push_back(file.string());
      print_json(document);
    } else if (!quiet_) {
      for (const std::filesystem::path& file : files) {
        print_text("written to {}\n", file.string());
      }
    }
    return ExitCode::kDone;
  }

 private:
  const io::ExportKind& chosen_format() const {
    if (!format_.empty()) return io::find_export_kind(format_);
    const std::string extension = std::filesystem::path(output_).extension().string();
    for (const io::ExportKind& format : io::export_kinds()) {
      if (format.extension == extension) return format;
    }
    if (extension.empty() || extension == ".txt") return io::export_kinds().front();
    throw UsageError(
        fmt::format("{}: no format that can be written ends in '{}'; name one with --format, or "
                    "choose an ending: {}",
                    output_,
                    extension,
                    endings()));
  }

  static std::string endings() {
    std::set<std::string> extensions;
    for (const io::ExportKind& format : io::export_kinds()) extensions.insert(format.extension);
    return fmt::format("{}", fmt::join(extensions, ", "));
  }

  std::string result_;
  std::string format_;
  std::string output_;
  ForceOption force_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace hesscope::cli
