// SPDX-License-Identifier: BSD-3-Clause
//
// Text from files, which may hold anything, for people's terminals and pages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hesscope {

/// Bytes of the first character of UTF-8 text; 0 if there is none, or the bytes are no UTF-8.
std::size_t utf8_length(std::string_view text);

/// Its characters; of what is no UTF-8, each byte.
std::vector<std::string_view> utf8_characters(std::string_view text);

bool is_utf8(std::string_view text);

/// True when the bytes are UTF-8 without control characters: fit to be a name in messages, JSON and
/// result files.
bool is_printable_utf8(std::string_view text);

/// The text with everything but printable ASCII shown as `\xNN`, for messages about damaged
/// content.
std::string escaped(std::string_view text);

/// The text, but control characters and what is no UTF-8 are shown as `\xNN`.
/// @param kept  control characters that are left as they are.
std::string printable(std::string_view text, std::string_view kept = {});

/// Text as XML and HTML may hold it, attributes too: &, <, > and quotes escaped; control characters
/// and what is not UTF-8 replaced by U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace hesscope
