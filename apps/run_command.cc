// SPDX-License-Identifier: BSD-3-Clause
#include "run_command.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/storage/unit_folder.h>

#include "interrupt.h"
#include "progress_line.h"
#include "standard_streams.h"

namespace hesscope::cli {

Option& RunCommand::declare_run(OptionTable& options,
                                const std::string& output_name,
                                const std::string& on_output,
                                const std::string& on_force,
                                const std::string& on_dry_run) {
  options.group("Output");
  Option& output = options.text("-o,--output", output_, output_name, on_output).unrecorded();
  force_.declare(options, on_force);
  options.flag("--json", json_, "Print one JSON document on stdout instead of tables").unrecorded();
  options.flag("-q,--quiet", quiet_, "Print neither progress nor a summary").unrecorded();
  options.group("Running");
  options.flag("--dry-run", dry_run_, on_dry_run).unrecorded();
  options
      .integer("--threads",
               threads_,
               0,
               4096,
               "How many threads to use; 0 = one per core. Results do not depend on it")
      .unrecorded();
  return output;
}

ExitCode RunCommand::run() {
  if (dry_run_) return show(plan());
  ProgressLine progress(name(), quiet_);
  const Report report = [&] {
    const InterruptibleRun interruptible(*this);
    return compute(interruptible.token(), [&](const std::string& what, auto... how_far) {
      progress.show(what, how_far...);
      return caught_signal() == 0;
    });
  }();
  progress.clear();
  return show(report);
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
  return report.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
}

std::string RunCommand::kept_in() const { return io::has_units(output_) ? output_ + ".units" : ""; }

std::string RunCommand::on_interrupt() const {
  const std::string kept = kept_in();
  if (kept.empty()) return Command::on_interrupt();
  return fmt::format(
      "interrupted; what is finished is kept in '{}', and the same command continues from "
      "there:\n  {} -o {}{}",
      kept,
      recorded(),
      shell_word(output_),
      force_.arguments());
}

Json RunCommand::plan_document() const {
  return {{"command", name()}, {"dry_run", true}, {"output", output_}};
}

Json RunCommand::result_document() const {
  return {{"command", name()}, {"hesscope_version", kVersion}, {"output", output_}};
}

std::string RunCommand::facts_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string text;
  for (const auto& [label, value] : facts) text += fmt::format("{:<12} {}\n", label, value);
  return text;
}

std::string RunCommand::output_text(bool is_done) const {
  const auto with = [this](std::string_view state) {
    return fmt::format("{} ({})", output_, state);
  };
  const std::filesystem::path folder = std::filesystem::path(output_).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    return with("its folder does not exist: a run would fail");
  }
  if (is_done) return with("done already: a run would change nothing");
  if (io::has_units(output_)) return with("begun: a run would continue it");
  const bool may_overwrite = force_.overwrite() != io::Overwrite::kNothing;
  if (!may_overwrite && std::filesystem::exists(std::filesystem::symlink_status(output_))) {
    return with("exists: a run would need --force");
  }
  return with("not written: dry run");
}

std::string RunCommand::ending_text(bool is_done_already, double seconds) const {
  return is_done_already
             ? fmt::format("done already: {} is what this command makes; --force makes it again\n",
                           output_)
             : fmt::format("written to {} in {}\n", output_, duration_text(seconds));
}

}  // namespace hesscope::cli
