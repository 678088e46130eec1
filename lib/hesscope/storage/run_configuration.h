// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
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

/// The first key in which another configuration, given as its text, differs; empty if none does.
std::string differing_key(const RunConfiguration& ours, const std::string& theirs);

}  // namespace hesscope::io
