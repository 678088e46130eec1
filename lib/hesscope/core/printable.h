// SPDX-License-Identifier: BSD-3-Clause
//
// Text from files, which may hold anything, for people's terminals.
#pragma once

#include <string>
#include <string_view>

namespace hesscope {

/// True when the bytes are UTF-8 without control characters: fit to be a name in messages, JSON and
/// result files.
bool is_printable_utf8(std::string_view text);

/// The text with everything but printable ASCII shown as \xNN, for messages about damaged content.
std::string escaped(std::string_view text);

/// The text as it is where it is printable, else escaped.
std::string printable(std::string_view text);

}  // namespace hesscope
