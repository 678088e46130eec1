// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include <hesscope/core/internal/control_group.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

struct Version {
  const char* folder;  // below the root
  const char* limit;
  const char* used;
  const char* droppable;  // its line in memory.stat
};

constexpr Version kVersion1 = {
    "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Version kVersion2 = {"", "memory.max", "memory.current", "inactive_file"};

// Adds what one group says: "max" is no number.
void add_group(const fs::path& group, const Version& version, ControlGroupMemory& memory) {
  double limit = 0;
  if (!(std::ifstream(group / version.limit) >> limit && limit > 0)) return;
  memory.limit = std::min(memory.limit, limit);
  double used = 0;
  if (!(std::ifstream(group / version.used) >> used)) return;
  std::ifstream statistics(group / "memory.stat");
  std::string name;
  for (double bytes = 0; statistics >> name >> bytes;) {
    if (name == version.droppable) used = std::max(0.0, used - bytes);
  }
  memory.free = std::min(memory.free, std::max(0.0, limit - used));
}

// The same for the group and those above it.
void add_groups(const fs::path& mount,
                std::string_view path,
                const Version& version,
                ControlGroupMemory& memory) {
  fs::path group = fs::path(path).relative_path().lexically_normal();
  while (!group.empty() && group != ".") {
    add_group(mount / group, version, memory);
    group = group.parent_path();
  }
  add_group(mount, version, memory);
}

}  // namespace

ControlGroupMemory control_group_memory(std::istream& groups, const fs::path& root) {
  ControlGroupMemory memory;
  // HIERARCHY:CONTROLLERS:PATH; of version 2 "0::PATH".
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = std::string_view(line).substr(second + 1);
    if (controllers.empty()) {
      add_groups(root / kVersion2.folder, path, kVersion2, memory);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      add_groups(root / kVersion1.folder, path, kVersion1, memory);
    }
  }
  return memory;
}

}  // namespace hesscope::detail
