// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <langinfo.h>
#include <locale.h>  // NOLINT(modernize-deprecated-headers): newlocale() is of POSIX
#include <sys/ioctl.h>
#include <unistd.h>

#include <hesscope/core/parse_number.h>
#include <hesscope/core/printable.h>

namespace hesscope::cli {
namespace {

// 0 if it is not set.
std::size_t columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  if (text == nullptr) return 0;
  return parse_number<std::size_t>(text).value_or(0);
}

std::size_t columns_of_device() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Without setlocale(), which would change how numbers are written.
bool is_utf8_locale() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool is_utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return is_utf8;
}

// The code point of the first character, which has `length` bytes.
unsigned code_of(std::string_view text, std::size_t length) {
  if (length <= 1) return static_cast<unsigned char>(text[0]);
  unsigned code = static_cast<unsigned char>(text[0]) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  return code;
}

// Ranges of characters that take two columns, or none, according to Unicode's East_Asian_Width and
// general categories.
constexpr std::array<std::pair<unsigned, unsigned>, 9> kWide = {{{0x1100, 0x115f},
                                                                 {0x2e80, 0x303e},
                                                                 {0x3041, 0xa4cf},
                                                                 {0xac00, 0xd7a3},
                                                                 {0xf900, 0xfaff},
                                                                 {0xfe30, 0xfe6f},
                                                                 {0xff00, 0xff60},
                                                                 {0x1f300, 0x1faff},
                                                                 {0x20000, 0x3fffd}}};
constexpr std::array<std::pair<unsigned, unsigned>, 4> kEmpty = {
    {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};

template <std::size_t N>
bool is_in(const std::array<std::pair<unsigned, unsigned>, N>& blocks, unsigned code) {
  return std::any_of(blocks.begin(), blocks.end(), [code](const auto& block) {
    return code >= block.first && code <= block.second;
  });
}

}  // namespace

Terminal standard_output() {
  Terminal terminal;
  // mpirun of Open MPI gives its processes a terminal of its own, and passes what is written
  // there on to its own output, whatever that is.
  const bool is_passed_on = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  terminal.is_there = ::isatty(STDOUT_FILENO) == 1 && !is_passed_on;
  if (!terminal.is_there) return terminal;
  for (const std::size_t columns : {columns_of_environment(), columns_of_device()}) {
    if (columns == 0) continue;
    terminal.columns = columns;
    break;
  }
  terminal.has_unicode = is_utf8_locale();
  return terminal;
}

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  for (const std::string_view character : utf8_characters(text)) {
    const unsigned code = code_of(character, character.size());
    columns += is_in(kWide, code) ? 2 : is_in(kEmpty, code) ? 0 : 1;
  }
  return columns;
}

}  // namespace hesscope::cli
