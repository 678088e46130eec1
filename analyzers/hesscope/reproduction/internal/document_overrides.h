// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of an experiment that are given in addition to its file.
#pragma once

#include <string>
#include <vector>

#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// Changes for merge_into() from texts "KEY=VALUE", with KEY as in [scale.NAME] and VALUE in TOML,
/// or text without quotes. Later texts override earlier ones.
/// @throws ConfigError naming a text that does not have this form.
TomlTable overrides_from(const std::vector<std::string>& texts);

}  // namespace hesscope::detail
