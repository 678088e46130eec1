// SPDX-License-Identifier: BSD-3-Clause
//
// What a subcommand is: a declaration of its options and a function that runs it.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/core/team.h>
#include <hesscope/spectra/distributed_spectrum.h>

#include "option_table.h"

namespace hesscope::cli {

/// A command line that cannot be meant so; how it is written, not what a file says.
class UsageError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// What lacks, and the command line that makes it, which is said in a line of its own.
class LackingError : public InputError {
 public:
  LackingError(const std::string& message, std::string command_line)
      : InputError(message), command_line_(std::move(command_line)) {}

  const std::string& command_line() const { return command_line_; }

 private:
  std::string command_line_;
};

/// The program's exit codes.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,        ///< an output could not be written, memory ran out, ...
  kUsage = 2,         ///< command line or problem file
  kBadInput = 3,      ///< a checkpoint or data file is missing, damaged or does not fit
  kLocked = 4,        ///< another run holds the output
  kInconclusive = 5,  ///< finished, but a number failed, is non-finite or unproved
  kHungUp = 129,
  kInterrupted = 130,
  kKilled = 137,  ///< a rank was, and the others have ended with it
  kTerminated = 143,
};

/// The one that an error ends with.
ExitCode exit_code_of(const std::exception& error);

/// What ranks have matrices by that none of them holds: of a grid of so many rows and columns,
/// 0 = as many as there are ranks for. @throws ConfigError.
using SolverMaker =
    std::function<std::shared_ptr<const DistributedSolver>(DistributedEngine engine, int grid)>;

/// One subcommand. Options live in the object; run() is called after they are set.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;

  /// For the manual page, beyond the summary: what goes in and what comes out, in some sentences.
  virtual std::string description() const { return {}; }

  /// Complete command lines for the help text.
  virtual std::vector<std::string> examples() const = 0;
  virtual void declare(OptionTable& options) = 0;
  virtual ExitCode run() = 0;

  /// From now on other processes do as this one does, the ranks of a team: what run() is on the
  /// first one is serve() on the others. For a command that shares no work they need not do
  /// anything.
  void join(std::shared_ptr<Team> team, SolverMaker make_solver) {
    team_ = std::move(team);
    make_solver_ = std::move(make_solver);
  }

  virtual bool shares_work() const { return false; }

  /// Whether a team is needed, though it may be one rank.
  virtual bool needs_team() const { return false; }

  virtual void serve() {}

  /// What to say when run() was interrupted: as it is printed, perhaps of several lines.
  virtual std::string on_interrupt() const { return cause_of_end() + "; no output was written"; }

  /// Whether that was because ranks have died; of those that can be seen from here.
  bool has_lost_ranks() const { return team_ != nullptr && !team_->lost().empty(); }

  /// How long run() may take to end once it was asked to: launchers give ranks a second.
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(team_ != nullptr ? 500 : 1500);
  }

  /// The declared options.
  OptionTable& options() { return options_; }

  const OptionTable& options() const { return options_; }

  /// Messages of the library in the words of this command, see OptionTable::with_flags().
  std::string with_flags(const std::string& message) const { return options_.with_flags(message); }

  std::vector<std::string> with_flags(std::vector<std::string> messages) const {
    for (std::string& message : messages) message = with_flags(message);
    return messages;
  }

  /// "hesscope NAME" with what was given and can change a result, quoted for a shell.
  std::string recorded() const { return "hesscope " + name() + options_.recorded(); }

 protected:
  /// "interrupted", or which ranks have died.
  std::string cause_of_end() const;

  /// Null for one process alone.
  const std::shared_ptr<Team>& team() const { return team_; }

  /// Empty without a team.
  const SolverMaker& make_solver() const { return make_solver_; }

 private:
  OptionTable options_;
  std::shared_ptr<Team> team_;
  SolverMaker make_solver_;
};

/// All subcommands, in the order of the help text.
std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace hesscope::cli
