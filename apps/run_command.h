// SPDX-License-Identifier: BSD-3-Clause
//
// The skeleton of the commands that compute: --dry-run estimates them, they show their progress,
// can be interrupted and continued, and report what they made in tables or in JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "json_document.h"
#include "part_option.h"
#include "run_options.h"

namespace hesscope::cli {

/// The final output about a plan or a result.
struct Report {
  Json document;     ///< with --json
  std::string text;  ///< for people
  std::vector<std::string> warnings = {};
  bool is_conclusive = true;
  std::optional<ExitCode> failure = {};  ///< exit code of the program if a part of the work failed
};

/// Called when piece `index` of `count` is done by `fraction`. @returns whether to continue.
using ShowProgress = std::function<bool(
    const std::string& what, std::size_t index, std::size_t count, double fraction)>;

class RunCommand : public Command {
 public:
  ExitCode run() override;
  std::string on_interrupt() const final;

 protected:
  /// Declares --output, --force, --json, --quiet, --dry-run, --threads, --part and --merge-only,
  /// which change no result.
  /// @param output_name, on_output  the value name of --output, and its description in the help.
  /// @param on_force, on_dry_run    what --force and --dry-run do.
  Option& declare_run(OptionTable& options,
                      const std::string& output_name,
                      const std::string& on_output,
                      const std::string& on_force,
                      const std::string& on_dry_run);

  /// The same for a run whose output is one result file.
  void declare_result_run(OptionTable& options);

  virtual Report plan() = 0;
  virtual Report compute(const std::stop_token& stop, const ShowProgress& progress) = 0;

  /// Where the finished work of an interrupted run is kept; empty if it keeps nothing.
  virtual std::string kept_in() const;

  /// Sets the members that every request has.
  template <typename Request>
  void fill(Request& request) const {
    if constexpr (takes_team<Request>()) {
      request.team = team();
    } else {
      refuse_team();
    }
    request.output = output_;
    request.overwrite = force_.overwrite();
    request.share = part_.share(team() != nullptr);
    request.num_threads = threads_;
  }

  /// A document that begins with the command and the program's version, or --dry-run's mark.
  Json plan_document() const;
  Json result_document() const;

  /// The report of a part, which makes no result.
  /// @param units  what was divided: "checkpoints".
  Report part_report(const io::PartOutcome& outcome,
                     const std::string& units,
                     std::vector<std::string> warnings) const;

  /// Lines "LABEL  VALUE"; the values begin in one column.
  static std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts);

  /// Adds what the plan of every run estimates.
  template <typename Plan>
  void add_foreseen(Json& document, const Plan& plan) const {
    document["peak_memory_bytes"] = plan.peak_memory_bytes;
    document["seconds"] = plan.seconds;
    document["done_already"] = plan.is_done_already;
    document["output_refusal"] =
        plan.output_refusal.empty() ? Json() : Json(with_flags(plan.output_refusal));
    document["warnings"] = with_flags(plan.warnings);
  }

  /// What a run would find at the place of the output, in brackets after its name.
  template <typename Plan>
  std::string output_text(const Plan& plan) const {
    return file_text(plan.is_done_already, plan.output_refusal);
  }

  /// The same for an output that is not a single file.
  std::string output_text(bool is_done, const std::string& refusal, bool is_begun) const;

  /// The last line of a summary: what happened to the output.
  std::string ending_text(bool is_done_already, double seconds) const;

  std::string output_;
  bool json_ = false;
  bool quiet_ = false;
  bool dry_run_ = false;

 private:
  std::string file_text(bool is_done, const std::string& refusal) const;

  template <typename Request>
  static constexpr bool takes_team() {
    return requires(Request & request) { request.team; };
  }

  /// @throws ConfigError if there is a team.
  void refuse_team() const;

  ExitCode show(const Report& report) const;
  std::string command_line(const std::string& part) const;

  PartOption part_;
  int threads_ = 0;
  ForceOption force_;
};

}  // namespace hesscope::cli
