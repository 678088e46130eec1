// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a result of an experiment already exists.
#pragma once

#include <filesystem>
#include <functional>

#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a piece of an experiment may replace at its output: nothing if the result is complete and
/// has this configuration, because --force is meant for results of other configurations.
/// @param configuration  called if a file exists.
/// @throws ConfigError if nothing may be replaced and the existing result has another
///         configuration, naming the first key that differs.
io::Overwrite overwrite_of_piece(const std::filesystem::path& output,
                                 io::Overwrite overwrite,
                                 const std::function<io::RunConfiguration()>& configuration);

}  // namespace hesscope::detail
