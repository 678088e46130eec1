// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>

#include "command.h"
#include "plugin_option.h"

namespace hesscope::cli {

/// Options of commands that compute at checkpoints: the checkpoints, how to read them, the problem
/// and the seed.
class CheckpointOptions {
 public:
  /// CHECKPOINT and --problem. @param on_checkpoints  what CHECKPOINT is, for the help.
  void declare_files(OptionTable& options, const std::string& on_checkpoints);

  void declare_reading(OptionTable& options);
  void declare_seed(OptionTable& options);

  /// Sets them in a request for an analysis or a landscape. @throws as expand_checkpoints().
  template <typename Request>
  void fill(Request& request) const {
    plugins_.apply();
    request.reading = reading();
    request.checkpoints =
        expand_checkpoints({paths_.begin(), paths_.end()}, format_, &request.reading.remarks);
    request.problem = problem_;
    request.seed = seed_;
  }

 private:
  CheckpointReading reading() const;

  std::vector<std::string> paths_;
  std::string problem_;
  std::string format_;
  std::string key_;
  std::string map_;
  std::string order_ = "step";
  std::string step_key_;
  std::vector<std::string> expected_sha256_;
  std::vector<double> expected_losses_;
  PluginOption plugins_;
  std::uint64_t seed_ = 0;
};

}  // namespace hesscope::cli
