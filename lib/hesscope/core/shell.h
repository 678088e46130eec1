// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace hesscope {

/// The text as one word of a POSIX shell's command line, quoted where necessary.
std::string shell_word(std::string_view text);

/// The same, but safe to show in a terminal and to paste back: text with bytes that are not
/// printable UTF-8 is written as $'...' with `\NNN` for each of them, as bash, ksh and zsh accept
/// it.
std::string pasted_word(std::string_view text);

}  // namespace hesscope
