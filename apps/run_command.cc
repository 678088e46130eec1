// SPDX-License-Identifier: BSD-3-Clause
#include "run_command.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/dataset/export_registry.h>
#include <hesscope/linalg/blas.h>
#include <hesscope/plot/picture_format.h>
#include <hesscope/report/page.h>
#include <hesscope/storage/unit_folder.h>
#include <hesscope/tensors/format_registry.h>

#include "interrupt.h"
#include "progress_line.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

constexpr const char* kResultExtension = ".h5";
constexpr const char* kInputExtension = ".toml";

// The command that makes a file with this ending of a result OUT.h5; empty if none does.
std::string command_for(const std::string& extension) {
  const std::string result = fmt::format("OUT{}", kResultExtension);
  const auto has_extension = [&](const auto& format) { return format.extension == extension; };
  if (std::ranges::any_of(plot::picture_formats(), has_extension)) {
    return fmt::format("plot {} --figure NAME", result);
  }
  if (std::ranges::find(report::kExtensions, extension) != report::kExtensions.end()) {
    return "report " + result;
  }
  const bool is_exported =
      extension == ".txt" || std::ranges::any_of(io::export_kinds(), has_extension);
  return is_exported ? "export " + result : "";
}

// Whether tensors, but no results, are in files with this ending.
bool is_of_tensors(const std::string& extension) {
  return std::ranges::any_of(io::format_kinds(), [&](const io::FormatKind& kind) {
    return kind.extension == extension || kind.other_extension == extension;
  });
}

// What is wrong with the name of a result that ends as files of other formats do; nothing for other
// names.
std::string result_name_problem(const std::string& given) {
  const std::string extension = std::filesystem::path(given).extension().string();
  if (extension.empty() || extension == kResultExtension) return {};
  const std::string command = command_for(extension);
  const bool is_input = extension == kInputExtension || is_of_tensors(extension);
  if (command.empty() && !is_input) return {};
  std::string problem =
      fmt::format("must be an HDF5 file, OUT{}, got '{}'", kResultExtension, given);
  if (command.empty()) return problem;
  return fmt::format(
      "{}; 'hesscope {} -o {}' makes one of it", problem, command, shell_word(given));
}

}  // namespace

Option& RunCommand::declare_run(OptionTable& options,
                                const std::string& output_name,
                                const std::string& on_output,
                                const std::string& on_force,
                                const std::string& on_dry_run) {
  options.group("Output");
  Option& output = options.output(output_, output_name, on_output).unrecorded();
  force_.declare(options, on_force);
  options.how_to_print(json_, quiet_, "Print neither progress nor a summary");
  options.group("Running");
  options.flag("--dry-run", dry_run_, on_dry_run).unrecorded();
  options
      .integer("--threads",
               threads_,
               0,
               4096,
               "How many threads to use; 0 = one per core. Results do not depend on it")
      .unrecorded();
  part_.declare(options);
  return output;
}

void RunCommand::declare_result_run(OptionTable& options) {
  Option& output = declare_run(options,
                               fmt::format("OUT{}", kResultExtension),
                               "Result file to write",
                               "Replace an existing result",
                               "Check the inputs and estimate memory and time; compute nothing");
  output.required();
  output.take = [take = output.take](const std::string& given) {
    const std::string problem = result_name_problem(given);
    return problem.empty() ? take(given) : problem;
  };
}

ExitCode RunCommand::run() {
  if (dry_run_) {
    Report foreseen = plan();
    const std::string whole = "memory and time are those of the whole run";
    if (part_.merges_only()) {
      foreseen.text += facts_text({{"merging", "computes nothing; " + whole}});
    } else if (const std::string part = part_.text(); !part.empty()) {
      foreseen.text += facts_text({{"part", fmt::format("{}; {}", part, whole)}});
    }
    return show(foreseen);
  }
  const std::string kernels = outdated_blas_kernels();
  if (!kernels.empty() && !quiet_) {
    print_message(
        "hesscope {}: note: OpenBLAS takes this processor for {}, which is older; in an "
        "environment with OPENBLAS_CORETYPE=Haswell decompositions are about twice as fast\n",
        name(),
        kernels);
  }
  ProgressLine progress(name(), quiet_);
  const auto report = [&] {
    const InterruptibleRun interruptible(*this);
    return compute(interruptible.token(), [&](const std::string& what, auto... how_far) {
      progress.show(what, how_far...);
      return caught_signal() == 0;
    });
  };
  try {
    const Report done = report();
    progress.clear();
    return show(done);
  } catch (const io::MissingPartsError& error) {
    throw LackingError(fmt::format("{}; {} by:",
                                   error.what(),
                                   error.parts().empty() ? "it is completed" : "it is computed"),
                       command_line(PartOption::arguments(error.parts())));
  }
}

void RunCommand::refuse_team() const {
  if (team() == nullptr) return;
  throw ConfigError(fmt::format(
      "hesscope-mpi: `{0}` shares no work among ranks, its steps being too short for that; divide "
      "its runs by `hesscope {0} ... --part I/{1}`, and put them together by one without --part",
      name(),
      team()->size()));
}

ExitCode RunCommand::show(const Report& report) const {
  if (json_) {
    print_json(report.document);
  } else if (!quiet_) {
    print_text("{}", report.text);
  }
  for (const std::string& warning : report.warnings) {
    print_message("hesscope {}: warning: {}\n", name(), with_flags(warning));
  }
  if (report.failure) return *report.failure;
  return report.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
}

std::string RunCommand::kept_in() const {
  const std::string place = part_.place(output_);
  return io::has_units(place) ? place + ".units" : "";
}

std::string RunCommand::command_line(const std::string& part) const {
  const std::string threads = threads_ == 0 ? "" : fmt::format(" --threads {}", threads_);
  return fmt::format(
      "{} -o {}{}{}{}", recorded(), shell_word(output_), force_.arguments(), threads, part);
}

std::string RunCommand::on_interrupt() const {
  const std::string kept = dry_run_ ? "" : kept_in();
  if (kept.empty()) return Command::on_interrupt();
  return fmt::format(
      "{}; what is finished is kept in '{}', and the same command continues from there{}:\n  {}",
      cause_of_end(),
      printable(kept),
      team() != nullptr ? ", on any number of ranks" : "",
      printable(command_line(part_.arguments())));
}

Json RunCommand::plan_document() const {
  return {{"command", name()}, {"dry_run", true}, {"output", output_}};
}

Json RunCommand::result_document() const {
  return {{"command", name()}, {"hesscope_version", kVersion}, {"output", output_}};
}

Report RunCommand::part_report(const io::PartOutcome& outcome,
                               const std::string& units,
                               std::vector<std::string> warnings) const {
  Report report;
  report.document = result_document();
  report.warnings = std::move(warnings);
  report.document["part"] = {{"index", outcome.part.index},
                             {"count", outcome.part.count},
                             {"units", units},
                             {"own", outcome.num_own},
                             {"found", outcome.num_found},
                             {"of", outcome.num_units}};
  report.document["warnings"] = with_flags(report.warnings);
  const std::string kept = kept_in();
  report.text = fmt::format("part {}: {} of {} {}, {} of them there before{}\n",
                            outcome.part.text(),
                            outcome.num_own,
                            outcome.num_units,
                            units,
                            outcome.num_found,
                            kept.empty() ? "" : ", kept in " + kept);
  return report;
}

std::string RunCommand::facts_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string text;
  for (const auto& [label, value] : facts) text += fmt::format("{:<12} {}\n", label, value);
  return text;
}

std::string RunCommand::output_text(bool is_done, const std::string& refusal, bool is_begun) const {
  std::string state = "not written: dry run";
  if (is_done) {
    state = "done already: a run would change nothing";
  } else if (!refusal.empty()) {
    state = with_flags(refusal);
  } else if (is_begun) {
    state = "begun: a run would continue it";
  }
  return fmt::format("{} ({})", output_, state);
}

std::string RunCommand::file_text(bool is_done, const std::string& refusal) const {
  const std::filesystem::path folder = std::filesystem::path(output_).parent_path();
  if (std::error_code none; !folder.empty() && !std::filesystem::is_directory(folder, none)) {
    return fmt::format("{} (its folder does not exist: a run would fail)", output_);
  }
  const bool is_begun = io::has_units(part_.place(output_));
  const bool is_open = !is_done && refusal.empty() && !is_begun;
  if (is_open && !io::parts_at(output_).empty()) {
    return fmt::format("{} (begun in parts: a run would find what they kept)", output_);
  }
  return output_text(is_done, refusal, is_begun);
}

std::string RunCommand::ending_text(bool is_done_already, double seconds) const {
  return is_done_already
             ? fmt::format("done already: {} is what this command makes; --force makes it again\n",
                           output_)
             : fmt::format("written to {} in {}\n", output_, duration_text(seconds));
}

}  // namespace hesscope::cli
