// SPDX-License-Identifier: BSD-3-Clause
//
// The width of text in figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hesscope::plot {

inline constexpr double kScriptSize = 0.72;  ///< of superscripts and subscripts, relative
inline constexpr double kBoldWidth = 1.16;   ///< of bold letters, relative

/// Width of text in points at a font size in points: Helvetica's widths plus an eighth, since
/// substitute fonts are wider. Characters beyond ASCII count as wide as a capital, those
/// from U+3000 on, such as Chinese ones, as wide as high.
double text_width(std::string_view text, double size);

/// The text in lines no wider than `width`, unless single words are wider. It is broken at spaces
/// outside of scripts.
std::vector<std::string> broken_text(std::string_view text, double size, double width);

}  // namespace hesscope::plot
