// SPDX-License-Identifier: BSD-3-Clause
//
// Interpolation between the columns and rows of a grid by smooth cubics, so that contours of a
// coarse grid have no corners.
//
// Between neighbours a and b at the distance h, with slopes s and t there, the cubic is
//   p(u) = a + u (h s + u (3 (b - a) - h (2 s + t) + u (h (s + t) - 2 (b - a)))),   0 <= u <= 1.
// The slope at a column is that of the parabola through it and its neighbours on both sides; at an
// end, that of the parabola through the last three points. Parabolas are reproduced exactly. Rows
// are interpolated first, then columns; a cell with a missing corner stays empty.
//
// Source: Keys (1981), Cubic convolution interpolation for digital image processing, IEEE
// Transactions on Acoustics, Speech, and Signal Processing 29, 1153-1160, section IV, on any grid.
#pragma once

#include <hesscope/plot/internal/contour.h>

namespace hesscope::plot {

/// The field with cells no wider and no higher than `largest`, as far as 16 parts per cell and
/// about 2,000 places per axis allow. Its values at the original columns and rows are unchanged.
Field refined(const Field& field, double largest);

}  // namespace hesscope::plot
