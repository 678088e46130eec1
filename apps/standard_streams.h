// SPDX-License-Identifier: BSD-3-Clause
//
// What the program says. What is printed has names and texts from files in it: control characters
// are shown as \xNN, so that no terminal obeys them; on stdout, where tables are, not line ends.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

namespace hesscope::cli {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed, so that no file of a run
/// takes its place. Reading and writing there keeps failing. To be called before anything is
/// opened.
void reserve_standard_streams();

/// From now on nothing is written: another process says the same.
void silence();

/// Writes to stderr, as it is, after all that was written to stdout. A message that cannot be
/// delivered changes nothing: the exit code still says how it went.
void write_message(std::string_view text) noexcept;

/// Whether stderr is a terminal whose lines can be wiped: not one that TERM calls dumb.
bool can_redraw() noexcept;

/// Wipes the line that stderr is in, if it can_redraw().
void clear_line() noexcept;

/// Text as it is shown within a line; anything else as it is.
template <typename T>
auto shown_in_line(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(std::string_view(value));
  } else {
    return value;
  }
}

/// fmt::print(stderr, ...), but where the text cannot be written it is lost. Its lines are those of
/// the format: no name makes one of its own.
template <typename... Args>
void print_message(fmt::format_string<const Args&...> format, const Args&... args) {
  write_message(fmt::format(fmt::runtime(fmt::string_view(format)), shown_in_line(args)...));
}

/// Writes to stdout, as it is; main() sees to a full disk.
void write_text(std::string_view text);

/// 0 where all that was written to stdout has arrived, else the errno of what has not.
int standard_output_error() noexcept;

template <typename... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  write_text(printable(fmt::format(format, std::forward<Args>(args)...), "\n"));
}

/// Of a mistake on a command line: the message, and how to get help.
/// @param command  empty for the program as a whole.
void print_usage_error(std::string_view command, std::string_view message);

}  // namespace hesscope::cli
