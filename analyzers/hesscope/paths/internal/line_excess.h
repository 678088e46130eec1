// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Relative, of differences between losses on a path.
inline constexpr double kLossRounding = 1e-14;

/// How far the loss on theta(t) = first + t (second - first), t from 0 to 1, is above a straight
/// line from one value at 0 to another at 1. Keeps references to both points.
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

  /// From the loss and its slope.
  Point above_line(const Point& loss) const;

  /// A maximum between neighbouring places, the higher one that rises towards the other, to
  /// rounding; none where neither values nor slopes tell of one. Its value is not finite where one
  /// that was met is not.
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
