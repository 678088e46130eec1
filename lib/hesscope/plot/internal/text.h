// SPDX-License-Identifier: BSD-3-Clause
//
// How wide the text of figures is.
#pragma once

#include <string_view>

namespace hesscope::plot {

inline constexpr double kScriptSize = 0.72;  ///< of raised and lowered text, relative

/// Room for text in points at a font size in points: Helvetica's widths and an eighth, since fonts
/// that stand in for it are wider. Characters beyond ASCII count as wide as a capital.
double text_width(std::string_view text, double size);

}  // namespace hesscope::plot
