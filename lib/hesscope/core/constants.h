// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

namespace hesscope {

/// What stands for a missing number; the Status (status.h) with it says why.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// From 1 to the next double, 2^-52: twice the relative error of rounding to nearest.
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

}  // namespace hesscope
