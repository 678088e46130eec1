// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a result of an experiment is there already.
#pragma once

#include <filesystem>
#include <functional>

#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a piece of an experiment may replace at its output: nothing if that is complete and of this
/// configuration, since --force is for what is of another.
/// @param configuration  called where a file is there.
/// @throws ConfigError where nothing may be replaced and the result there is of another
///         configuration, naming the first key that differs.
io::Overwrite overwrite_of_piece(const std::filesystem::path& output,
                                 io::Overwrite overwrite,
                                 const std::function<io::RunConfiguration()>& configuration);

}  // namespace hesscope::detail
