// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <filesystem>
#include <istream>

namespace hesscope::detail {

/// Bytes; infinite where no control group limits them.
struct ControlGroupMemory {
  double limit = HUGE_VAL;
  double free = HUGE_VAL;  ///< page cache that could be dropped counts as free
};

/// The memory that control groups leave to a process: the least of its group and of all groups
/// above that, since each of them limits all that are in it, as systemd and Slurm nest them.
/// @param groups  the process's groups as /proc/PID/cgroup lists them, of version 1, 2 or both.
/// @param root    where the groups are mounted: /sys/fs/cgroup. A container may see only the root
///                of its own there, whose groups' paths do not exist: then only that counts.
/// @source cgroups(7).
ControlGroupMemory control_group_memory(std::istream& groups, const std::filesystem::path& root);

}  // namespace hesscope::detail
