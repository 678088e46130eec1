// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hesscope::io {

/// All that the result of a run depends on, by name, in a fixed order: what a run has finished is
/// used by runs of the same configuration only.
using RunConfiguration = std::vector<std::pair<std::string, std::string>>;

/// Hexadecimal SHA-256 of a configuration.
std::string digest_of(const RunConfiguration& configuration);

/// A configuration as text, one key and its value a line.
std::string text_of(const RunConfiguration& configuration);

/// The value that a configuration, given as its text, has for a key, as it is in the text, with
/// tabs, newlines and backslashes escaped; nothing where it has none.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key);

/// In what another configuration, given as its text, differs first: the key, and both values where
/// each is a few words and no digest, as "'seed' (1 now, 0 before)"; empty if it does not differ.
/// @param here, there  what is said of ours and theirs: "now", "before".
std::string difference_from(const RunConfiguration& ours,
                            const std::string& theirs,
                            std::string_view here = "now",
                            std::string_view there = "before");

}  // namespace hesscope::io
