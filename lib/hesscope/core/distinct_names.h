// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hesscope {

/// Short names for files or folders. Each is the file's own name; if two coincide, all are preceded
/// by the same number of parent folders, as few as make them distinct, or else by their whole
/// paths. Two names are equal only if their paths are.
/// @param with_extension  whether a name that is not a whole path keeps its ".h5".
std::vector<std::string> distinct_names(std::span<const std::filesystem::path> paths,
                                        bool with_extension = true);

}  // namespace hesscope
