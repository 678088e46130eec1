// SPDX-License-Identifier: BSD-3-Clause
#include "sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace hesscope::cli {
namespace {

constexpr std::array<const char*, 8> kBars = {
    "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array<const char*, 8> kMarks = {".", ":", "-", "=", "+", "*", "#", "@"};

}  // namespace

std::string sparkline(const plot::Scale& scale,
                      std::span<const double> values,
                      std::size_t width,
                      bool with_unicode) {
  std::vector<std::size_t> counts(width, 0);
  for (const double value : values) {
    const double place = scale.place(value);
    if (!(place >= 0 && place <= 1)) continue;
    ++counts[std::min(static_cast<std::size_t>(place * static_cast<double>(width)), width - 1)];
  }
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const auto& heights = with_unicode ? kBars : kMarks;
  std::string line;
  for (const std::size_t count : counts) {
    if (count == 0) {
      line += ' ';
      continue;
    }
    const double height = std::sqrt(static_cast<double>(count) / most);  // in (0, 1]
    line +=
        heights[static_cast<std::size_t>(std::ceil(height * static_cast<double>(heights.size()))) -
                1];
  }
  return line;
}

std::string sparkline_ruler(const plot::Scale& scale, std::size_t width) {
  std::string line(width, ' ');
  const std::string left = fmt::format("{:.2g}", scale.lower());
  const std::string right = fmt::format("{:.2g}", scale.upper());
  if (left.size() + right.size() + 1 > width) return line;
  line.replace(0, left.size(), left);
  line.replace(width - right.size(), right.size(), right);
  const double zero = scale.place(0);
  if (!(zero > 0 && zero < 1)) return line;
  const std::size_t at =
      std::min(static_cast<std::size_t>(zero * static_cast<double>(width)), width - 1);
  if (at > left.size() && at + 1 < width - right.size()) line[at] = '0';
  return line;
}

}  // namespace hesscope::cli
