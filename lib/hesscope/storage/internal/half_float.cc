// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>

#include <hesscope/core/constants.h>
#include <hesscope/storage/internal/half_float.h>

namespace hesscope::io {

double half_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  if (exponent == 0x1F) {
    return mantissa == 0 ? sign * kInfinity : kNaN;
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 0x400, exponent - 25);
}

double bfloat16_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  const double magnitude = std::abs(value);
  if (magnitude >= 0x1p16) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x1p-14) {  // subnormal: multiples of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
  }
  const int exponent = std::ilogb(magnitude);
  const auto mantissa = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent)) - 0x400U;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10 | mantissa);
}

std::uint16_t bfloat16_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  // A NaN with a mantissa entirely in the lower half would become infinite.
  return static_cast<std::uint16_t>(std::isnan(value) ? bits >> 16 | 0x40U : bits >> 16);
}

}  // namespace hesscope::io
