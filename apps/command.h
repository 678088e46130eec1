// SPDX-License-Identifier: BSD-3-Clause
//
// What a subcommand is, without a word of the command line parser: a declaration of its options and
// a function that runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope::cli {

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
  kTerminated = 143,
};

/// Receives a subcommand's options. Names are written "--name" or "-n,--name"; positionals as
/// "NAME".
class OptionTable {
 public:
  virtual ~OptionTable() = default;

  /// What is declared from here on stands under this title in the help, below what is there
  /// already: "Input", "Output", "Running" in every command, and its own titles.
  virtual void group(const std::string& title) = 0;

  virtual void flag(const std::string& names, bool& target, const std::string& help) = 0;

  /// A flag that counts how often it is given.
  virtual void counted_flag(const std::string& names, int& target, const std::string& help) = 0;
  virtual void text(const std::string& names,
                    std::string& target,
                    const std::string& value_name,
                    const std::string& help,
                    bool required = false) = 0;
  virtual void choice(const std::string& names,
                      std::string& target,
                      const std::vector<std::string>& choices,
                      const std::string& help) = 0;

  /// Values separated by commas.
  virtual void list(const std::string& names,
                    std::vector<std::string>& target,
                    const std::string& value_name,
                    const std::string& help) = 0;

  /// Given once for each value; a value may hold commas.
  virtual void repeated(const std::string& names,
                        std::vector<std::string>& target,
                        const std::string& value_name,
                        const std::string& help) = 0;
  virtual void integer(
      const std::string& names, int& target, int minimum, int maximum, const std::string& help) = 0;

  /// Any whole number from 0 on.
  virtual void seed(const std::string& names, std::uint64_t& target, const std::string& help) = 0;

  /// An option --KEY for a key that a component declares; values[KEY] is set where it is given. A
  /// boolean key is a flag.
  virtual void setting(const SettingKey& key, std::map<std::string, SettingValue>& values) = 0;

  /// Positional arguments: one or more, or any number.
  virtual void positionals(const std::string& name,
                           std::vector<std::string>& target,
                           const std::string& help,
                           bool required = true) = 0;

  /// One positional argument.
  virtual void positional(const std::string& name,
                          std::string& target,
                          const std::string& help) = 0;
};

/// One subcommand. Options live in the object; run() is called after they are set.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;

  /// Complete command lines for the help text.
  virtual std::vector<std::string> examples() const = 0;
  virtual void declare(OptionTable& options) = 0;
  virtual ExitCode run() = 0;

  /// What to say when run() was interrupted.
  virtual std::string on_interrupt() const { return "interrupted; no output was written"; }
};

/// All subcommands, in the order of the help text.
std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace hesscope::cli
