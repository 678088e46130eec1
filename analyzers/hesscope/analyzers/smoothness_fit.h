// SPDX-License-Identifier: BSD-3-Clause
//
// Lines y = L0 + L1 x through, or above, points (x, y): of a gradient norm and a norm of the
// Hessian they are the constants of (L0, L1)-smoothness,
//   ||H(theta)|| <= L0 + L1 ||g(theta)||.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include <hesscope/core/status.h>

namespace hesscope {

struct SmoothnessLine {
  Status status = Status::kNotComputed;  ///< kOk, kNonFinite, or kUndefinedZeroDenominator
  double l0 = std::numeric_limits<double>::quiet_NaN();
  double l1 = std::numeric_limits<double>::quiet_NaN();
};

/// The line of least squares in y, either sign allowed. kUndefinedZeroDenominator where all x are
/// the same within rounding.
/// @throws PreconditionError unless x and y have one size of at least 1.
SmoothnessLine least_squares_line(std::span<const double> x, std::span<const double> y);

/// The tightest line above all points with L0, L1 >= 0: it minimises L0 + L1 mean(x), and among
/// several that do has the smallest L1. Solved exactly: the line is the edge over mean(x) of the
/// upper convex hull of the points and the origin, or lies level on the highest point.
/// @throws PreconditionError unless x and y have one size of at least 1 and no negative entry.
/// @cost   O(m log m) for m points.
SmoothnessLine tightest_line(std::span<const double> x, std::span<const double> y);

using LineFit = std::function<SmoothnessLine(std::span<const double>, std::span<const double>)>;

struct BootstrapOptions {
  std::int64_t num_resamples = 2000;
  double level = 0.95;
  std::uint64_t seed = 0;
};

/// Percentile intervals of both constants.
struct LineIntervals {
  Status status = Status::kNotComputed;  ///< kOk, or kUndefinedZeroDenominator
  double l0_lower = std::numeric_limits<double>::quiet_NaN();
  double l0_upper = std::numeric_limits<double>::quiet_NaN();
  double l1_lower = std::numeric_limits<double>::quiet_NaN();
  double l1_upper = std::numeric_limits<double>::quiet_NaN();
};

/// Fits samples of m of the m points drawn with replacement and takes the quantiles (1 - level) / 2
/// and (1 + level) / 2 of each constant, interpolated linearly. Samples without a line are left
/// out; where they are more than half, kUndefinedZeroDenominator. Points are taken for independent:
/// of neighbours on a trajectory, which are not, the intervals are too narrow.
/// @throws PreconditionError unless num_resamples >= 1 and 0 < level < 1, and as the fit.
/// @source Efron & Tibshirani (1993), An introduction to the bootstrap, section 13.3.
LineIntervals bootstrap_intervals(std::span<const double> x,
                                  std::span<const double> y,
                                  const LineFit& fit,
                                  const BootstrapOptions& options);

}  // namespace hesscope
