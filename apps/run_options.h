// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <hesscope/storage/overwrite.h>

#include "command.h"

namespace hesscope::cli {

/// Of the option --key, where a command reads checkpoints.
inline constexpr const char* kKeyHelp =
    "Take only the tensors whose names begin so, as in model_state_dict: the part of a training "
    "checkpoint that holds the weights";

/// --force: once for what this program made, twice for anything.
class ForceOption {
 public:
  /// @param on_force  what it does given once, for the help.
  void declare(OptionTable& options, const std::string& on_force);

  io::Overwrite overwrite() const;

  /// As it was given, after a space; empty if it was not.
  std::string arguments() const;

 private:
  int count_ = 0;
};

/// How to run: options of every command that computes.
struct RunOptions {
  int threads = 0;
  ForceOption force;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;

  /// @param on_force    what --force does, for the help.
  /// @param on_dry_run  what --dry-run does.
  void declare(OptionTable& options, const std::string& on_force, const std::string& on_dry_run);
};

/// A message of the library, which calls the members of requests by name (`step_key`), in the words
/// of the command line: --step-key.
std::string with_flags(std::string message);
std::vector<std::string> with_flags(std::vector<std::string> messages);

}  // namespace hesscope::cli
