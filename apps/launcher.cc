// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.h"

#include <array>
#include <cstdlib>

#include <hesscope/core/parse_number.h>

namespace hesscope::cli {
namespace {

struct Launcher {
  const char* name;
  const char* size;
  const char* rank;
};

// mpirun may use srun for its own helpers, and Slurm's variables then describe those: so the
// launcher nearest to the program comes first. SLURM_NTASKS is what a job has requested, which says
// nothing about this process; SLURM_STEP_NUM_TASKS is what srun has started.
constexpr std::array kLaunchers = {
    Launcher{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    Launcher{"mpiexec or srun", "PMI_SIZE", "PMI_RANK"},
    Launcher{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const auto number = parse_number<int>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

std::optional<LaunchedTask> launched_task() {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int> size = number_in(launcher.size);
    if (!size) continue;
    return LaunchedTask{.size = *size,
                        .rank = number_in(launcher.rank).value_or(0),
                        .launcher = launcher.name,
                        .size_variable = launcher.size,
                        .rank_variable = launcher.rank};
  }
  return std::nullopt;
}

}  // namespace hesscope::cli
