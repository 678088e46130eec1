// SPDX-License-Identifier: BSD-3-Clause
//
// The width of text in figures.
#pragma once

#include <string_view>

namespace hesscope::plot {

inline constexpr double kScriptSize = 0.72;  ///< of superscripts and subscripts, relative

/// Width of text in points at a font size in points: Helvetica's widths plus an eighth, since
/// substitute fonts are wider. Characters beyond ASCII count as wide as a capital.
double text_width(std::string_view text, double size);

}  // namespace hesscope::plot
