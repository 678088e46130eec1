// SPDX-License-Identifier: BSD-3-Clause
//
// What the program says on stderr. A message that cannot be delivered changes nothing: the exit
// code still says how it went.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hesscope::cli {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed, so that no file of a run
/// takes its place. Reading and writing there goes on failing. To be called before anything is
/// opened.
void reserve_standard_streams();

/// Writes to stderr. A stream that is full or closed is none of its business.
void write_message(std::string_view text) noexcept;

/// fmt::print(stderr, ...), but where the text cannot be written it is lost.
template <typename... Args>
void print_message(fmt::format_string<Args...> format, Args&&... args) {
  write_message(fmt::format(format, std::forward<Args>(args)...));
}

/// Of a mistake on a command line: the message, and where help is to be had.
/// @param command  empty for the program as a whole.
void print_usage_error(std::string_view command, std::string_view message);

}  // namespace hesscope::cli
