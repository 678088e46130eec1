// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hesscope {

/// What files or folders are called for short: by their names, where any two are the same by as
/// many of the folders around them, the same number for all, as tell all of them apart, and at last
/// by the whole paths. Two names are the same only where the paths are.
/// @param with_extension  whether ".h5" is part of a name that is no whole path.
std::vector<std::string> distinct_names(std::span<const std::filesystem::path> paths,
                                        bool with_extension = true);

}  // namespace hesscope
