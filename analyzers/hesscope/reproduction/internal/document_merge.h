// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a configuration replaced by others.
#pragma once

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// Puts the keys of `changes` over those of `table`, tables within it key by key. An element of an
/// array of tables goes by its name: `run.adam.learning_rate` is a key of the [[run]] named adam.
/// A table of another `kind` takes the place of the whole table. Every key keeps the place that it
/// comes from.
/// @throws ConfigError where an array has no element of that name.
void merge_into(TomlTable& table, const TomlTable& changes);

}  // namespace hesscope::detail
