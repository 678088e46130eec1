// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace hesscope::cli {
namespace {

struct Launcher {
  const char* name;
  const char* size;
  const char* rank;
};

// mpirun may use srun for its own helpers, whose number then stands in Slurm's variables: what is
// nearer to the program comes first. SLURM_NTASKS is what a job has asked for, which says nothing
// of this process; SLURM_STEP_NUM_TASKS is what srun has started.
constexpr std::array kLaunchers = {
    Launcher{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    Launcher{"mpiexec or srun", "PMI_SIZE", "PMI_RANK"},
    Launcher{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view view = text;
  int number = 0;
  const auto [stop, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (error != std::errc() || stop != view.data() + view.size() || number < 0) return std::nullopt;
  return number;
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
