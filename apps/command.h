// SPDX-License-Identifier: BSD-3-Clause
//
// A subcommand: a declaration of its options and a function that runs it.
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

/// An invalid command line, as opposed to invalid file contents.
class UsageError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Something that is missing, and the command line that makes it, which is printed on a line of its
/// own.
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
  kKilled = 137,  ///< a rank was killed, and the others have ended with it
  kTerminated = 143,
};

/// The exit code for an error.
ExitCode exit_code_of(const std::exception& error);

/// Makes matrices that are spread over the ranks, none of which holds the whole: on a grid with
/// `grid` rows and columns, 0 = as many as the ranks allow. @throws ConfigError.
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

  /// For the manual page, in addition to the summary: input and output in a few sentences.
  virtual std::string description() const { return {}; }

  /// Complete command lines for the help text.
  virtual std::vector<std::string> examples() const = 0;
  virtual void declare(OptionTable& options) = 0;
  virtual ExitCode run() = 0;

  /// From now on, the ranks of a team take part: when the first rank calls run(), the others call
  /// serve(). A command that shares no work need not implement serve().
  void join(std::shared_ptr<Team> team, SolverMaker make_solver) {
    team_ = std::move(team);
    make_solver_ = std::move(make_solver);
  }

  virtual bool shares_work() const { return false; }

  /// Whether a team is needed, even if it has only one rank.
  virtual bool needs_team() const { return false; }

  virtual void serve() {}

  /// The message after run() was interrupted, as printed; may have several lines.
  virtual std::string on_interrupt() const { return cause_of_end() + "; no output was written"; }

  /// Whether it was interrupted because ranks died, as far as this process can see.
  bool has_lost_ranks() const { return team_ != nullptr && !team_->lost().empty(); }

  /// How long run() may take to end after it was asked to: launchers give ranks one second.
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(team_ != nullptr ? 500 : 1500);
  }

  /// The declared options.
  OptionTable& options() { return options_; }

  const OptionTable& options() const { return options_; }

  /// A message of the library with the option names of this command, see OptionTable::with_flags().
  std::string with_flags(const std::string& message) const { return options_.with_flags(message); }

  std::vector<std::string> with_flags(std::vector<std::string> messages) const {
    for (std::string& message : messages) message = with_flags(message);
    return messages;
  }

  /// "hesscope NAME" with the given options that can change a result, quoted for a shell.
  std::string recorded() const { return "hesscope " + name() + options_.recorded(); }

 protected:
  /// "interrupted", or which ranks have died.
  std::string cause_of_end() const;

  /// Null if this process works alone.
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
