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

}  // namespace hesscope::io
