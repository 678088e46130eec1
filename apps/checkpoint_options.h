// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>

#include "command.h"

namespace hesscope::cli {

/// The checkpoints of a command, and how they are read.
struct CheckpointOptions {
  std::vector<std::string> paths;
  std::string format;
  std::string key;
  std::string map;
  std::string order = "step";
  std::string step_key;
  std::vector<std::string> expected_sha256;
  std::vector<std::string> expected_losses;

  /// @param on_checkpoints  what the positional argument is, for the help.
  void declare(OptionTable& options, const std::string& on_checkpoints);

  /// The files, and how they are read, of a request for either.
  /// @throws as expand_checkpoints().
  template <typename Request>
  void fill(Request& request) const {
    request.reading = reading();
    request.checkpoints = files(request.reading.remarks);
  }

  /// The options as given, quoted for a shell, where they can change a result: " --format npz".
  std::string arguments() const;

 private:
  std::vector<CheckpointFile> files(std::vector<std::string>& remarks) const;
  CheckpointReading reading() const;
};

}  // namespace hesscope::cli
