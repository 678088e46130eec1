// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/analyzers/checkpoints.h>

#include "command.h"

namespace hesscope::cli {

/// The checkpoints of a command, and how they are read.
struct CheckpointOptions {
  std::vector<std::string> paths;
  std::string format;
  std::string key;
  std::string map;
  std::vector<std::string> expected_sha256;

  /// @param on_checkpoints  what the positional argument is, for the help.
  void declare(OptionTable& options, const std::string& on_checkpoints);

  /// @throws as expand_checkpoints().
  std::vector<CheckpointFile> files() const;

  CheckpointReading reading() const;

  /// The options as given, quoted for a shell, where they can change a result: " --format npz".
  std::string arguments() const;
};

}  // namespace hesscope::cli
