// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Relative rounding of differences between losses on a path.
inline constexpr double kLossRounding = 1e-14;

/// How far the loss on theta(t) = first + t (second - first), t from 0 to 1, is above a straight
/// line between two values at t = 0 and t = 1. Keeps references to both points.
class LineExcess {
 public:
  struct Point {
    double place;  ///< t
    double value;
    double slope;
  };

  LineExcess(const Objective& objective,
             const Eigen::VectorXd& first,
             const Eigen::VectorXd& second,
             double line_at_0,
             double line_at_1)
      : objective_(objective),
        first_(first),
        second_(second),
        line_at_0_(line_at_0),
        line_at_1_(line_at_1) {}

  Eigen::VectorXd theta(double t) const;

  /// @cost  a gradient
  Point at(double t) const;

  /// From the loss and its slope at a point.
  Point above_line(const Point& loss) const;

  /// A maximum between neighbouring positions, of which the higher one rises towards the other, to
  /// rounding; nothing if neither values nor slopes show one. Its value is not finite if the search
  /// meets one that is not.
  /// @cost  some 50 gradients
  std::optional<Point> highest(const Point& before, const Point& after) const;

 private:
  Point climb(Point uphill, double end) const;

  const Objective& objective_;
  const Eigen::VectorXd& first_;
  const Eigen::VectorXd& second_;
  double line_at_0_;
  double line_at_1_;
};

}  // namespace hesscope::detail
