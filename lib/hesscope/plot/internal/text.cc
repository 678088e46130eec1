// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <utility>

#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

// Of the characters from ' ' to '~', in thousandths of the size: Adobe's metrics of Helvetica.
constexpr std::array<short, 95> kWidths = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr short kOtherWidth = 650;
constexpr double kStandInRoom = 1.125;

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Bytes of the UTF-8 sequence at `at` that encodes a character XML allows; 0 if there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  const std::size_t length = lead >= 0xf0 && lead <= 0xf4   ? 4
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xc2 && lead <= 0xdf ? 2
                                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  unsigned code = lead & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const unsigned next = byte_at(text, at + k);
    if ((next & 0xc0U) != 0x80U) return 0;
    code = code << 6U | (next & 0x3fU);
  }
  constexpr std::array<unsigned, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};  // no overlong forms
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool is_character = code >= kSmallest[length] && code <= 0x10ffff && code != 0xfffe &&
                            code != 0xffff && !is_surrogate && !(code >= 0x80 && code < 0xa0);
  return is_character ? length : 0;
}

double plain_width(std::string_view text) {
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned byte = byte_at(text, i);
    if ((byte & 0xc0U) == 0x80U) continue;  // counted with the byte that leads
    width += byte >= ' ' && byte <= '~' ? kWidths[byte - ' '] : kOtherWidth;
  }
  return width / 1000;
}

}  // namespace

std::vector<TextRun> parse_markup(std::string_view text) {
  std::vector<TextRun> runs;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) runs.push_back({plain, TextRun::Level::kNormal});
    plain.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = (text[i] == '^' || text[i] == '_') && text.substr(i + 1, 1) == "{";
    const std::size_t end = opens ? text.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      plain += text[i];
      continue;
    }
    flush();
    std::string script(text.substr(i + 2, end - i - 2));
    if (script.size() > 1 && script[0] == '-' && script[1] >= '0' && script[1] <= '9') {
      script.replace(0, 1, "\u2212");
    }
    runs.push_back(
        {std::move(script), text[i] == '^' ? TextRun::Level::kRaised : TextRun::Level::kLowered});
    i = end;
  }
  flush();
  return runs;
}

std::string without_markup(std::string_view text) {
  std::string plain;
  for (const TextRun& run : parse_markup(text)) plain += run.text;
  return plain;
}

std::string xml_text(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) {
      safe += "\ufffd";
      ++i;
      continue;
    }
    switch (text[i]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\n':
      case '\t':
        safe += ' ';
        break;
      default:
        safe += text.substr(i, length);
    }
    i += length;
  }
  return safe;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const TextRun& run : parse_markup(text)) {
    width += plain_width(run.text) * (run.level == TextRun::Level::kNormal ? 1 : kScriptSize);
  }
  return width * size * kStandInRoom;
}

}  // namespace hesscope::plot
