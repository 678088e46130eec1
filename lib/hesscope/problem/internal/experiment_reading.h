// SPDX-License-Identifier: BSD-3-Clause
//
// Experiment files whose TOML is read already: for those who put several together.
#pragma once

#include <filesystem>
#include <optional>

#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/start_checkpoint.h>

namespace hesscope::detail {

/// What read_experiment_file() makes of a file that is read already, and of which parts may have
/// been replaced.
/// @param path  of the file: where relative paths in it start, and for messages.
/// @throws ConfigError as that.
ExperimentFile experiment_from(const TomlTable& root, const std::filesystem::path& path);

/// Takes `from_checkpoint` or `from` out of an [initialization]; nothing where it has neither.
/// @param  folder  where relative paths start. @throws ConfigError for both, or for what is no
/// text.
std::optional<StartCheckpoint> take_start(TomlTable& initialization,
                                          const std::filesystem::path& folder);

}  // namespace hesscope::detail
