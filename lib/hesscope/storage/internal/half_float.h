// SPDX-License-Identifier: BSD-3-Clause
//
// 16-bit floats.
#pragma once

#include <cstdint>

namespace hesscope::io {

/// IEEE 754 binary16 to double, exactly.
double half_to_double(std::uint16_t bits);

/// The upper half of a binary32 to double, exactly.
double bfloat16_to_double(std::uint16_t bits);

/// The binary16 with this value, if there is one; a loss shows when it is converted back.
std::uint16_t half_bits(double value);

/// The same for the upper half of a binary32.
std::uint16_t bfloat16_bits(double value);

}  // namespace hesscope::io
