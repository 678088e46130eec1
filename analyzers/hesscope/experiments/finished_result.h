// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a result of an experiment is there already. Private to the experiments.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <hesscope/io/unit_folder.h>

namespace hesscope::detail {

/// Whether the output is there, whole, and of this configuration; what finished runs left beside it
/// is then cleared away. False where it is to be made, or made anew because of `overwrite`.
/// @param  configuration  called where a file is there. @throws ConfigError where it is of another.
/// @param  warnings       gets one where numbers are missing in the result that is there.
bool is_finished(const std::filesystem::path& output,
                 bool overwrite,
                 const std::function<io::RunConfiguration()>& configuration,
                 std::vector<std::string>& warnings);

}  // namespace hesscope::detail
