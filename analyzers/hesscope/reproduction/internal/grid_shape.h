// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of a surface over a grid, in numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/core/constants.h>

namespace hesscope::detail {

/// Numbers about f on a rectangular grid; NaN if undefined. Points are ignored if their value, or
/// one that they need, is not finite.
struct GridShape {
  double minimum = kNaN;
  double maximum = kNaN;
  /// Share of the inner points at which the matrix of central second differences is positive
  /// definite; on a line, the second difference positive.
  double convex_share = kNaN;
  /// Inner points below all their neighbours, 8 or on a line 2.
  std::int64_t num_minima = 0;
  /// Root mean square of the residual of the best quadratic polynomial, over that of f minus its
  /// mean: 0 for a paraboloid, 1 if no quadratic explains anything.
  double roughness = kNaN;
};

/// @param x, y    ascending, equidistant; one of them may be a single point.
/// @param values  f(x_j, y_i) at [i * x.size() + j].
GridShape grid_shape(std::span<const double> x,
                     std::span<const double> y,
                     std::span<const double> values);

}  // namespace hesscope::detail
