// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>

#include <hesscope/plot/internal/text.h>
#include <hesscope/plot/markup.h>

namespace hesscope::plot {
namespace {

// For the characters from ' ' to '~', in thousandths of the size: Adobe's metrics of Helvetica.
constexpr std::array<short, 95> kWidths = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr short kOtherWidth = 650;
constexpr short kFullWidth = 1000;
constexpr unsigned char kFirstOfFullWidth = 0xe3;  // leads U+3000 and all after: CJK, emoji
constexpr double kStandInRoom = 1.125;

double plain_width(std::string_view text) {
  double width = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xc0U) == 0x80U) continue;  // counted with the byte that leads
    if (byte >= ' ' && byte <= '~') {
      width += kWidths[byte - ' '];
    } else {
      width += byte < kFirstOfFullWidth ? kOtherWidth : kFullWidth;
    }
  }
  return width / 1000;
}

// Where the first word ends: at a space outside of scripts.
std::size_t end_of_word(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') return i;
    const bool opens = (text[i] == '^' || text[i] == '_') && text.substr(i + 1, 1) == "{";
    const std::size_t end = opens ? text.find('}', i) : i;
    if (end != std::string_view::npos) i = end;
  }
  return text.size();
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const TextRun& run : parse_markup(text)) {
    width += plain_width(run.text) * (run.level == TextRun::Level::kNormal ? 1 : kScriptSize);
  }
  return width * size * kStandInRoom;
}

std::vector<std::string> broken_text(std::string_view text, double size, double width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.empty() && text_width(lines.back() + " " + word, size) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace hesscope::plot
