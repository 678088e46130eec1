// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/report/page.h>
#include <hesscope/report/result_page.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

#include "commands.h"
#include "json_document.h"
#include "result_input.h"
#include "run_options.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

class ReportCommand final : public Command {
 public:
  std::string name() const override { return "report"; }

  std::string summary() const override { return "Whole results as one page for a browser"; }

  std::string description() const override {
    return "Writes one HTML file, which needs neither a network nor other files, with all figures "
           "that "
           "the results have the data for, their tables, and what each quantity means. What is "
           "missing "
           "or not proved is marked as such.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope report run.h5 -o run.html",
        "hesscope report sgdm.h5 adam.h5 --label SGDM --label Adam -o optimisers.html",
        "hesscope report run.h5 landscape.h5 --title \"A perceptron on digits\" -o run.html",
        "hesscope report seed-0.h5 seed-1.h5 --label Adam --label Adam -o seeds.html",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positionals("RESULT", results_, "Result files; figures of several lie over one another")
        .required();
    options.group("Output");
    options.output(output_, "FILE", "HTML file to write: one file, for any browser").required();
    force_.declare(options, "Replace an existing report");
    options.how_to_print(json_, quiet_);
    options.group("Style");
    options.repeated(
        "--label",
        labels_,
        "TEXT",
        "Name of a result; once for each, in their order. Results of the same name are "
        "runs from several seeds: their median, in a band of their range");
    options.text(
        "--title", title_, "TEXT", "Title of the page (default: the names of the results)");
  }

  ExitCode run() override {
    require_consistent();
    const OpenResults results = open_results(results_, labels_);
    io::require_replaceable(output_, force_.overwrite(), "a report", [&] {
      return io::begins_with(output_, {report::kFirstLines});
    });
    const report::Page page = report::result_page(results.sources, title_of(results.sources));
    const std::string html = report::to_html(page);
    io::write_whole(output_, html, io::existing_of(force_.overwrite()));
    std::size_t num_figures = 0;
    for (const report::Section& section : page.sections) num_figures += section.pictures.size();
    if (json_) {
      print_json({{"command", name()},
                  {"results", results_},
                  {"output", output_},
                  {"figures", num_figures},
                  {"bytes", html.size()}});
    } else if (!quiet_) {
      print_text("written to {}: {} figures, {:.1f} MB\n",
                 output_,
                 num_figures,
                 1e-6 * static_cast<double>(html.size()));
    }
    return ExitCode::kDone;
  }

 private:
  void require_consistent() const {
    require_all_labels(results_, labels_);
    const std::string extension = std::filesystem::path(output_).extension().string();
    if (std::ranges::find(report::kExtensions, extension) == report::kExtensions.end()) {
      throw UsageError(fmt::format("{}: a report is HTML: the output must end in .html", output_));
    }
    require_no_result(output_, results_);
  }

  std::string title_of(const std::vector<figures::Source>& sources) const {
    if (!title_.empty()) return title_;
    std::string title;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (i > 0 && sources[i].label == sources[i - 1].label) continue;
      title += (title.empty() ? "" : ", ") + sources[i].label;
    }
    return title;
  }

  std::vector<std::string> results_;
  std::string output_;
  std::vector<std::string> labels_;
  std::string title_;
  ForceOption force_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace hesscope::cli
