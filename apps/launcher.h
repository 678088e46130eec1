// SPDX-License-Identifier: BSD-3-Clause
//
// What mpirun and srun tell the processes that they start.
#pragma once

#include <optional>
#include <string>

namespace hesscope::cli {

/// A process as one of several that a launcher started.
struct LaunchedTask {
  int size = 1;
  int rank = 0;
  std::string launcher = {};       ///< for people
  std::string size_variable = {};  ///< of the environment
  std::string rank_variable = {};
};

/// Nothing if no launcher gives a size; without a rank, it is the first task.
std::optional<LaunchedTask> launched_task();

}  // namespace hesscope::cli
