// SPDX-License-Identifier: BSD-3-Clause
//
// Text of figures: its markup and its width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hesscope::plot {

/// A stretch of text on one level.
struct TextRun {
  enum class Level : std::uint8_t { kNormal, kRaised, kLowered };

  std::string text;
  Level level = Level::kNormal;
};

inline constexpr double kScriptSize = 0.72;  ///< of raised and lowered text, relative

/// Splits at ^{...} and _{...}; a brace that is not closed is text. The hyphen of a raised or
/// lowered number becomes a minus sign.
std::vector<TextRun> parse_markup(std::string_view text);

/// The text without its markup: "10^{2}" is "102".
std::string without_markup(std::string_view text);

/// Room for text in points at a font size in points: Helvetica's widths and an eighth, since fonts
/// that stand in for it are wider. Characters beyond ASCII count as wide as a capital.
double text_width(std::string_view text, double size);

}  // namespace hesscope::plot
