// SPDX-License-Identifier: BSD-3-Clause
//
// Lines y = L0 + L1 x through, or above, points (x, y). For a gradient norm x and a norm y of the
// Hessian, they are the constants of (L0, L1)-smoothness,
//   ||H(theta)|| <= L0 + L1 ||g(theta)||,  L0, L1 >= 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>

namespace hesscope {

struct SmoothnessLine {
  Status status = Status::kNotComputed;  ///< kOk, kNonFinite, or kUndefinedZeroDenominator
  double l0 = kNaN;
  double l1 = kNaN;
};

/// Two points always define a line: fewer than this say nothing about L0 and L1.
inline constexpr std::size_t kFewestPointsOfLine = 3;

/// With fewer points, the few resamples in which nearly all points coincide determine the ends of
/// intervals.
inline constexpr std::size_t kFewestPointsOfIntervals = 10;

/// The least-squares line in y, with either sign allowed. kUndefinedZeroDenominator if all x are
/// the same within rounding.
/// @throws PreconditionError unless x and y have the same size of at least 1.
SmoothnessLine least_squares_line(std::span<const double> x, std::span<const double> y);

/// The least-squares line in y with L0, L1 >= 0: that of least_squares_line() if it has no negative
/// constant, else the line through the origin (if L0 would be negative) or the horizontal one (if
/// L1 would be). Both cannot be negative.
/// @throws PreconditionError unless x and y have the same size of at least 1 and no negative entry.
SmoothnessLine nonnegative_line(std::span<const double> x, std::span<const double> y);

/// The tightest line above all points with L0, L1 >= 0: it minimises L0 + L1 mean(x) and, among
/// several minimisers, has the smallest L1. Solved exactly: the line is the edge over mean(x) of
/// the upper convex hull of the points and the origin, or the horizontal line through the highest
/// point.
/// @throws PreconditionError unless x and y have the same size of at least 1 and no negative entry.
/// @cost   O(m log m) for m points.
SmoothnessLine tightest_line(std::span<const double> x, std::span<const double> y);

using LineFitter = std::function<SmoothnessLine(std::span<const double>, std::span<const double>)>;

struct BootstrapOptions {
  std::int64_t num_resamples = 4000;
  double level = 0.95;
  std::uint64_t seed = 0;
};

/// Intervals of both constants.
struct LineIntervals {
  /// kOk, kUndefinedTooFewPoints or kUndefinedZeroDenominator
  Status status = Status::kNotComputed;
  double l0_lower = kNaN;
  double l0_upper = kNaN;
  double l1_lower = kNaN;
  double l1_upper = kNaN;
};

/// Fits resamples of m of the m points, drawn with replacement, and takes the quantiles (1 - level)
/// / 2 and (1 + level) / 2 of each constant, interpolated linearly. Resamples without a line are
/// left out; if they are more than half, the status is kUndefinedZeroDenominator.
/// kUndefinedTooFewPoints for fewer points than kFewestPointsOfIntervals.
///
/// For tightest_line(), this measures how much the line depends on single points, and is no
/// confidence interval: the line above some of the points is never above that of all (see Bickel &
/// Freedman 1981 on the bootstrap of a maximum).
/// @throws PreconditionError unless num_resamples >= 1 and 0 < level < 1, and as the fit.
/// @source Efron & Tibshirani (1993), An introduction to the bootstrap, section 13.3; Bickel &
///         Freedman (1981), Annals of Statistics 9, 1196-1217.
LineIntervals bootstrap_intervals(std::span<const double> x,
                                  std::span<const double> y,
                                  const LineFitter& fit,
                                  const BootstrapOptions& options);

/// Confidence intervals of the constants of nonnegative_line(); none extends below zero.
///
/// Resamples are fitted by least_squares_line(), with either sign allowed. Percentiles of
/// constrained fits are wrong if the truth is on the boundary (Andrews 2000; measured, they contain
/// L0 in 82 % of sets of 10 points if L1 = 0). The percentiles are the expanded ones, (1 -+ level')
/// / 2 with Phi^-1 = sqrt(m / (m - 2)) times that of Student's t with m - 2 degrees of freedom,
/// which makes up for what plain percentiles lack at small m (Hesterberg 2015). The constraint is
/// applied afterwards, which costs no coverage: the part below zero is cut off; if the free
/// constant itself is below zero, the interval is first moved up until its centre is 0, so that its
/// length remains (Mandelkern 2002); and the interval is extended to the estimate if that lies
/// outside.
///
/// Measured coverage of nominal 95 % (tests/analyzers/smoothness_coverage_test.cc): 94 to 99 % for
/// 10 points and 90 to 98 % for 30. The least is that of L1 if noise is proportional to y and x
/// spreads over two decades, so that few points have most of the leverage. A constant that is 0, on
/// the boundary, is contained in 96 to 99 %: its interval can only miss it from above. Points are
/// assumed to be independent: for neighbours on a trajectory, which are not, intervals are too
/// narrow.
/// @return kUndefinedTooFewPoints for fewer points than kFewestPointsOfIntervals; else as
///         bootstrap_intervals().
/// @throws PreconditionError as nonnegative_line() and bootstrap_intervals().
/// @source Andrews (2000), Econometrica 68, 399-405; Hesterberg (2015), The American Statistician
///         69, 371-386; Mandelkern (2002), Statistical Science 17, 149-172.
LineIntervals nonnegative_intervals(std::span<const double> x,
                                    std::span<const double> y,
                                    const BootstrapOptions& options);

}  // namespace hesscope
