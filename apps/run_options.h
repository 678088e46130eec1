// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "command.h"

namespace hesscope::cli {

/// Of the option --key, where a command reads checkpoints.
inline constexpr const char* kKeyHelp =
    "Part of the checkpoints to take, by what its tensors' names begin with: model_state_dict";

/// What every command that computes can be told of how to run.
struct RunOptions {
  int threads = 0;
  bool force = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;

  /// @param on_force    what --force does, for the help.
  /// @param on_dry_run  what --dry-run does.
  void declare(OptionTable& options, const std::string& on_force, const std::string& on_dry_run);
};

}  // namespace hesscope::cli
