// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

namespace hesscope {

/// Stands for a missing number; the accompanying Status (status.h) says why it is missing.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The distance from 1 to the next double, 2^-52: twice the relative error of rounding to nearest.
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

}  // namespace hesscope
