// SPDX-License-Identifier: BSD-3-Clause
//
// Experiment files from already parsed TOML, for code that combines several of them.
#pragma once

#include <filesystem>
#include <optional>

#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/start_checkpoint.h>

namespace hesscope::detail {

/// The same as read_experiment_file(), from the content of a file, parts of which may have been
/// replaced.
/// @param path  of the file: the base of relative paths in it, and for messages.
/// @throws ConfigError as that function.
ExperimentFile experiment_from(const TomlTable& root, const std::filesystem::path& path);

/// Removes `from_checkpoint` or `from` from an [initialization] and returns it; nothing if it has
/// neither.
/// @param  folder  base of relative paths. @throws ConfigError for both, or for a value that is not
///                 a text.
std::optional<StartCheckpoint> take_start(TomlTable& initialization,
                                          const std::filesystem::path& folder);

}  // namespace hesscope::detail
