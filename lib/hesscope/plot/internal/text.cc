// SPDX-License-Identifier: BSD-3-Clause
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
constexpr double kStandInRoom = 1.125;

double plain_width(std::string_view text) {
  double width = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xc0U) == 0x80U) continue;  // counted with the byte that leads
    width += byte >= ' ' && byte <= '~' ? kWidths[byte - ' '] : kOtherWidth;
  }
  return width / 1000;
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const TextRun& run : parse_markup(text)) {
    width += plain_width(run.text) * (run.level == TextRun::Level::kNormal ? 1 : kScriptSize);
  }
  return width * size * kStandInRoom;
}

}  // namespace hesscope::plot
