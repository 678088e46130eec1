// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

/// Gives panels at the same place in each figure the same ranges of axes and colours, so that one
/// can leaf through the figures. Exceptions are tables, scales that differ in kind, and linear
/// ranges of which one is less than a twentieth of the common range.
/// @throws PreconditionError as to_svg(), or if the figures have different numbers of panels.
void share_axes(std::vector<Figure>& figures);

/// The same for the panels of one figure, so that they can be compared side by side.
void share_axes(Figure& figure);

}  // namespace hesscope::plot
