// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces parts of a configuration by others.
#pragma once

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// Puts the keys of `changes` over those of `table`, and does the same in tables within it. An
/// element of an array of tables is addressed by its name: `run.adam.learning_rate` is a key of the
/// [[run]] named adam. A table with another `kind` replaces the whole table. Every key keeps its
/// location in its file.
/// @throws ConfigError if an array has no element with that name.
void merge_into(TomlTable& table, const TomlTable& changes);

}  // namespace hesscope::detail
