// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/plot/colour.h>

namespace hesscope::plot {
namespace {

constexpr std::array<Colour, 7> kLineColours = {{{0x00, 0x72, 0xb2},
                                                 {0xd5, 0x5e, 0x00},
                                                 {0x00, 0x9e, 0x73},
                                                 {0xcc, 0x79, 0xa7},
                                                 {0xe6, 0x9f, 0x00},
                                                 {0x56, 0xb4, 0xe9},
                                                 {0x00, 0x00, 0x00}}};

constexpr std::array<Colour, 10> kViridis = {{{0x44, 0x01, 0x54},
                                              {0x48, 0x28, 0x78},
                                              {0x3e, 0x49, 0x89},
                                              {0x31, 0x68, 0x8e},
                                              {0x26, 0x82, 0x8e},
                                              {0x1f, 0x9e, 0x89},
                                              {0x35, 0xb7, 0x79},
                                              {0x6e, 0xce, 0x58},
                                              {0xb5, 0xde, 0x2b},
                                              {0xfd, 0xe7, 0x25}}};

constexpr OkLab kBlueEnd{0.42, -0.03, -0.12};
constexpr OkLab kWhiteMiddle{0.97, 0.0, 0.0};
constexpr OkLab kOrangeEnd{0.42, 0.10, 0.075};

OkLab mix(const OkLab& from, const OkLab& to, double t) {
  return {from.lightness + t * (to.lightness - from.lightness),
          from.a + t * (to.a - from.a),
          from.b + t * (to.b - from.b)};
}

// sRGB's transfer function (IEC 61966-2-1) and its inverse.
double linear_light(std::uint8_t value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

std::uint8_t encoded(double light) {
  const double clipped = std::clamp(light, 0.0, 1.0);
  const double v =
      clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * std::pow(clipped, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * v));
}

}  // namespace

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

Colour line_colour(std::size_t index) { return kLineColours[index % kLineColours.size()]; }

Colour tinted(Colour colour, double white) {
  const auto mixed = [&](std::uint8_t value) {
    return static_cast<std::uint8_t>(std::lround(value + (255 - value) * white));
  };
  return {mixed(colour.red), mixed(colour.green), mixed(colour.blue)};
}

OkLab to_oklab(Colour colour) {
  const double r = linear_light(colour.red);
  const double g = linear_light(colour.green);
  const double b = linear_light(colour.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Colour from_oklab(const OkLab& lab) {
  const double l = lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b;
  const double m = lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b;
  const double s = lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b;
  const double l3 = l * l * l;
  const double m3 = m * m * m;
  const double s3 = s * s * s;
  return {encoded(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3),
          encoded(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3),
          encoded(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3)};
}

Colour colour_at(ColourMap map, double t) {
  if (std::isnan(t)) return kGrey;
  const double place = std::clamp(t, 0.0, 1.0);
  if (map == ColourMap::kDiverging) {
    return from_oklab(place < 0.5 ? mix(kBlueEnd, kWhiteMiddle, 2 * place)
                                  : mix(kWhiteMiddle, kOrangeEnd, 2 * place - 1));
  }
  const double scaled = place * static_cast<double>(kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(scaled), kViridis.size() - 2);
  return from_oklab(mix(to_oklab(kViridis[below]),
                        to_oklab(kViridis[below + 1]),
                        scaled - static_cast<double>(below)));
}

}  // namespace hesscope::plot
