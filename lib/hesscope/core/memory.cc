// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/control_group.h>
#include <hesscope/core/memory.h>

namespace hesscope {

double address_space_limit_bytes() {
  struct rlimit space {};

  const bool is_limited = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<double>(space.rlim_cur) : HUGE_VAL;
}

namespace {

detail::ControlGroupMemory group_memory() {
  std::ifstream groups("/proc/self/cgroup");
  return detail::control_group_memory(groups, "/sys/fs/cgroup");
}

// For all processes together.
double machine_memory_bytes() {
  struct sysinfo machine {};

  double limit = HUGE_VAL;
  if (::sysinfo(&machine) == 0) {
    limit = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) *
            static_cast<double>(machine.mem_unit);
  }
  return std::min(limit, group_memory().limit);
}

}  // namespace

double memory_limit_bytes() {
  return std::min(machine_memory_bytes(), address_space_limit_bytes());
}

double free_memory_bytes() {
  constexpr double kUnit = 1024;
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  for (double number = 0; file >> name >> number && std::getline(file, rest);) {
    if (name != "MemAvailable:") continue;
    return std::min(kUnit * number, group_memory().free);
  }
  return machine_memory_bytes();
}

void require_memory(double bytes, const std::string& what) {
  const double limit = memory_limit_bytes();
  if (bytes <= limit) return;
  throw OutputError(fmt::format(
      "{}: needs {:.3g} GB of memory, and there are {:.3g} GB", what, bytes / 1e9, limit / 1e9));
}

}  // namespace hesscope
