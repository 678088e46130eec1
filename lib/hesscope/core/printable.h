// SPDX-License-Identifier: BSD-3-Clause
//
// Text from files, which may hold anything, made safe for terminals and pages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hesscope {

/// Bytes of the first character of UTF-8 text; 0 if the text is empty or does not begin with valid
/// UTF-8.
std::size_t utf8_length(std::string_view text);

/// The characters of the text; each byte that is not part of valid UTF-8 counts as one.
std::vector<std::string_view> utf8_characters(std::string_view text);

bool is_utf8(std::string_view text);

/// True when the bytes are UTF-8 without control characters: fit to be a name in messages, JSON and
/// result files.
bool is_printable_utf8(std::string_view text);

/// The text with everything but printable ASCII shown as `\xNN`, for messages about damaged
/// content.
std::string escaped(std::string_view text);

/// The text, with control characters and invalid UTF-8 shown as `\xNN`.
/// @param kept  control characters that are left as they are.
std::string printable(std::string_view text, std::string_view kept = {});

/// Text as XML and HTML may hold it, attributes too: &, <, > and quotes escaped; control characters
/// and what is not UTF-8 replaced by U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace hesscope
