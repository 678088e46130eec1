// SPDX-License-Identifier: BSD-3-Clause
//
// The markup of text in figures.
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

/// Splits at ^{...} and _{...}; an unclosed brace is plain text. The hyphen of a raised or lowered
/// number becomes a minus sign.
std::vector<TextRun> parse_markup(std::string_view text);

/// The text without its markup: "10^{2}" is "102".
std::string without_markup(std::string_view text);

}  // namespace hesscope::plot
