// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/numpy/npy_types.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kObjectAdvice =
    "objects could run code when they are loaded, and never are; save an array of real numbers, "
    "for example with numpy.asarray(VALUES, '<f8')";
constexpr std::string_view kStructureAdvice = "save each of its fields as a separate array";

std::string_view advice_on(std::string_view descr) {
  switch (descr.size() < 2 ? '\0' : descr[1]) {
    case 'O':
      return kObjectAdvice;
    case 'S':
    case 'U':
      return "arrays of text are not read";
    case 'c':
      return "save array.real and array.imag as separate arrays";
    case 'V':
      if (descr.substr(2) != "2") return "raw bytes are not read; save the numbers that they mean";
      return "if they are bfloat16, widen them to float32: (array.view('<u2').astype('<u4') << "
             "16).view('<f4')";
    default:
      return "save real numbers (float16 to float64, integers or booleans), for example with "
             "array.astype('<f8')";
  }
}

std::string_view meaning_of(std::string_view descr) {
  switch (descr.size() < 2 ? '\0' : descr[1]) {
    case 'O':
      return " (Python objects)";
    case 'c':
      return " (complex numbers)";
    case 'f':
      return descr.substr(2) == "1" ? " (floats of 8 bits)" : " (extended precision)";
    case 'S':
    case 'U':
      return " (strings)";
    case 'V':
      return " (raw bytes; bfloat16 is saved so)";
    case 'M':
    case 'm':
      return " (dates)";
    default:
      return "";
  }
}

bool is_byte_order(char character) {
  return std::string_view("<>|=").find(character) != std::string_view::npos;
}

/// Size of an element of a dtype that NumPy has; nothing for other text.
std::optional<std::uint64_t> bytes_of(std::string_view descr) {
  constexpr std::size_t kLongest = 40;  // kept for every such array
  if (descr.size() < 3 || descr.size() > kLongest || !is_byte_order(descr[0])) return std::nullopt;
  std::uint32_t count = 0;
  const char* const end = descr.data() + descr.size();
  const auto [rest, error] = std::from_chars(descr.data() + 2, end, count);
  if (error != std::errc()) return std::nullopt;
  const char kind = descr[1];
  const bool is_date = kind == 'M' || kind == 'm';
  if (rest != end && !(is_date && *rest == '[' && end[-1] == ']')) return std::nullopt;
  const auto is_one_of = [count](std::initializer_list<std::uint32_t> sizes) {
    return std::ranges::find(sizes, count) != sizes.end();
  };
  const bool is_known = kind == 'S' || kind == 'U' || kind == 'V' || (is_date && count == 8) ||
                        (kind == 'f' && is_one_of({1, 12, 16})) ||
                        (kind == 'c' && is_one_of({8, 16, 24, 32}));
  constexpr std::uint64_t kCharacterBytes = 4;
  if (!is_known) return std::nullopt;
  return kind == 'U' ? kCharacterBytes * count : count;
}

/// As NumPy writes it in a structured type or, where no field name is possible, as NumPy may read
/// it.
bool is_object(std::string_view text, char before) {
  return (text.size() > 1 && is_byte_order(text[0]) && text[1] == 'O') ||
         (text == "O" && before == ',');
}

/// The contents of a structured type's text.
struct Structure {
  std::size_t length = 0;  ///< up to the closing bracket; 0 if there is none
  bool has_objects = false;
};

Structure scan_structure(std::string_view text) {
  Structure structure;
  std::string open;  // brackets that are still open
  char before = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (character == ' ') continue;
    if (character == '\'' || character == '"') {
      const std::size_t end = text.find(character, i + 1);
      if (end == std::string_view::npos) return {};
      structure.has_objects |= is_object(text.substr(i + 1, end - i - 1), before);
      i = end;
    } else if (character == '(' || character == '[') {
      open += character;
    } else if (character == ')' || character == ']') {
      if (open.empty() || open.back() != (character == ')' ? '(' : '[')) return {};
      open.pop_back();
      structure.length = i + 1;
      if (open.empty()) return structure;
    } else if (character != ',' && !is_digit(character)) {
      return {};
    }
    before = character;
  }
  return {};
}

}  // namespace

std::optional<ElementType> npy_type(std::string_view code) {
  using enum ElementType;
  static constexpr std::array<std::pair<std::string_view, ElementType>, 12> kTypes = {{
      {"f8", kFloat64},
      {"f4", kFloat32},
      {"f2", kFloat16},
      {"b1", kBool},
      {"i1", kInt8},
      {"i2", kInt16},
      {"i4", kInt32},
      {"i8", kInt64},
      {"u1", kUInt8},
      {"u2", kUInt16},
      {"u4", kUInt32},
      {"u8", kUInt64},
  }};
  const auto found =
      std::ranges::find(kTypes, code, &std::pair<std::string_view, ElementType>::first);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

OddNpyType odd_npy_type(std::string_view descr) {
  const std::optional<std::uint64_t> bytes = bytes_of(descr);
  return {.name = fmt::format("'{}'{}", escaped(descr), meaning_of(descr)),
          .advice = advice_on(descr),
          .is_harmless = bytes.has_value(),
          .is_text = bytes && (descr[1] == 'S' || descr[1] == 'U'),
          .element_bytes = bytes};
}

OddNpyType structured_npy_type(std::string_view text, std::size_t& length) {
  const Structure structure = scan_structure(text);
  length = structure.length;
  const bool has_objects = structure.has_objects;
  return {.name = has_objects ? "a structured type with Python objects" : "a structured type",
          .advice = has_objects ? kObjectAdvice : kStructureAdvice,
          .is_harmless = length > 0 && !has_objects};
}

}  // namespace hesscope::io
