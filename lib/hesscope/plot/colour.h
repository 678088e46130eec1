// SPDX-License-Identifier: BSD-3-Clause
//
// Colours that survive print and colour blindness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hesscope::plot {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Colour&, const Colour&) = default;
};

/// "#0072b2".
std::string hex(Colour colour);

inline constexpr Colour kInk{0x22, 0x22, 0x22};  ///< text and frames
inline constexpr Colour kWhite{0xff, 0xff, 0xff};
inline constexpr Colour kGrey{0x77, 0x77, 0x77};  ///< less prominent: references, remarks

/// Colours of lines that stand for different things, repeating after 7: blue, vermillion, green,
/// purple, orange, sky blue, black.
/// @source M. Okabe & K. Ito (2008), Color Universal Design; their yellow is too light for lines.
Colour line_colour(std::size_t index);

/// The colour mixed with this share of white, 0 .. 1.
Colour tinted(Colour colour, double white);

/// How numbers are mapped to colours.
enum class ColourMap : std::uint8_t {
  /// From dark violet via green to yellow: viridis, with evenly increasing lightness.
  /// @source S. van der Walt & N. Smith (2015), viridis (CC0): ten of its colours, between which
  ///         OKLab is interpolated linearly.
  kViridis,
  /// From blue via white to orange, for signed numbers: a straight line in OKLab on either side,
  /// equally dark at both ends.
  /// @source B. Ottosson (2020), A perceptual color space for image processing (OKLab).
  kDiverging,
};

/// @param t  position on the map, clamped to 0 .. 1; NaN gives kGrey.
Colour colour_at(ColourMap map, double t);

/// Perceptual coordinates of a colour: lightness 0 .. 1 and two opponent axes.
struct OkLab {
  double lightness = 0;
  double a = 0;  ///< green to red
  double b = 0;  ///< blue to yellow
};

OkLab to_oklab(Colour colour);

/// The nearest colour; colours that a screen cannot show are clipped.
Colour from_oklab(const OkLab& lab);

}  // namespace hesscope::plot
