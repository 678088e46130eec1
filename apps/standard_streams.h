// SPDX-License-Identifier: BSD-3-Clause
//
// Output of the program. It contains names and texts from files: control characters in it are shown
// as \xNN, so that no terminal obeys them; but line ends are kept on stdout, where tables are.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

namespace hesscope::cli {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed, so that no file of a run
/// takes its place. Reading and writing there still fails. To be called before anything is opened.
void reserve_standard_streams();

/// From now on, nothing is written, because another process writes the same.
void silence();

/// Writes to stderr, unchanged, after everything that was written to stdout. If a message cannot be
/// delivered, nothing else changes: the exit code still tells the outcome.
void write_message(std::string_view text) noexcept;

/// Whether stderr is a terminal whose lines can be wiped, and TERM is not "dumb".
bool can_redraw() noexcept;

/// Wipes the current line of stderr, if it can_redraw().
void clear_line() noexcept;

/// Text as shown within one line; other values unchanged.
template <typename T>
auto shown_in_line(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(std::string_view(value));
  } else {
    return value;
  }
}

/// fmt::print(stderr, ...), except that text that cannot be written is lost. Only the format
/// creates line breaks, never a name.
template <typename... Args>
void print_message(fmt::format_string<const Args&...> format, const Args&... args) {
  write_message(fmt::format(fmt::runtime(fmt::string_view(format)), shown_in_line(args)...));
}

/// Writes to stdout, unchanged; main() checks for a full disk.
void write_text(std::string_view text);

/// 0 if everything that was written to stdout has arrived, else the errno of the failure.
int standard_output_error() noexcept;

template <typename... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  write_text(printable(fmt::format(format, std::forward<Args>(args)...), "\n"));
}

/// Prints the message about a mistake on a command line, and how to get help.
/// @param command  empty for the program as a whole.
void print_usage_error(std::string_view command, std::string_view message);

}  // namespace hesscope::cli
