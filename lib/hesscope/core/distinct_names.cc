// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>

#include <hesscope/core/distinct_names.h>

namespace hesscope {
namespace {

namespace fs = std::filesystem;

// The name preceded by this many folders, or by all that the path has.
std::string name_of(const fs::path& path, std::size_t num_folders, bool with_extension) {
  fs::path name = with_extension ? path.filename() : path.stem();
  fs::path folder = path.parent_path();
  for (; num_folders > 0 && folder.has_filename(); --num_folders) {
    name = folder.filename() / name;
    folder = folder.parent_path();
  }
  return name.string();
}

}  // namespace

std::vector<std::string> distinct_names(std::span<const fs::path> paths, bool with_extension) {
  const std::size_t num_distinct = std::set<fs::path>(paths.begin(), paths.end()).size();
  std::size_t longest = 0;
  for (const fs::path& path : paths) {
    longest = std::max(longest, static_cast<std::size_t>(std::distance(path.begin(), path.end())));
  }
  std::vector<std::string> names(paths.size());
  for (std::size_t num_folders = 0; num_folders < longest; ++num_folders) {
    std::ranges::transform(paths, names.begin(), [&](const fs::path& path) {
      return name_of(path, num_folders, with_extension);
    });
    if (std::set<std::string>(names.begin(), names.end()).size() == num_distinct) return names;
  }
  std::ranges::transform(paths, names.begin(), [](const fs::path& path) { return path.string(); });
  return names;
}

}  // namespace hesscope
