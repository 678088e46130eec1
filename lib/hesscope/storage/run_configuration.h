// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hesscope::io {

/// Everything that the result of a run depends on, by name, in a fixed order. What a run has
/// finished is reused only by runs with the same configuration.
using RunConfiguration = std::vector<std::pair<std::string, std::string>>;

/// Hexadecimal SHA-256 of a configuration.
std::string digest_of(const RunConfiguration& configuration);

/// A configuration as text, with one key and its value per line.
std::string text_of(const RunConfiguration& configuration);

/// The value of a key in a configuration given as text, exactly as it stands there (tabs, newlines
/// and backslashes escaped); nothing if the key is absent.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key);

/// The first difference from another configuration, given as text: the key, and both values if each
/// is only a few words and not a digest, as "'seed' (1 now, 0 before)"; empty if they do not
/// differ.
/// @param here, there  how to refer to ours and theirs: "now", "before".
std::string difference_from(const RunConfiguration& ours,
                            const std::string& theirs,
                            std::string_view here = "now",
                            std::string_view there = "before");

}  // namespace hesscope::io
