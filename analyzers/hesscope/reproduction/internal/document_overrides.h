// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of an experiment given in addition to its file.
#pragma once

#include <string>
#include <vector>

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// Changes for merge_into() from texts "KEY=VALUE": KEY as in [scale.NAME], VALUE as TOML has it,
/// or a text without quotes. Later ones go over earlier ones.
/// @throws ConfigError naming a text that is not of this form.
TomlTable overrides_from(const std::vector<std::string>& texts);

}  // namespace hesscope::detail
