// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hesscope {

/// The text as one word of a POSIX shell's command line: in quotes where it needs them.
std::string shell_word(std::string_view text);

/// The same in what a terminal shows as it is and takes when it is pasted: with bytes that are no
/// printable UTF-8, in $'...' with `\NNN` for each of them, as bash, ksh and zsh have it.
std::string pasted_word(std::string_view text);

/// The texts as words, a blank between them.
std::string shell_words(std::span<const std::string> texts);

}  // namespace hesscope
