// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// A quantity on the plane as filled contours with the trajectory, or on a line as a curve.
FigureKind landscape_figure();

}  // namespace hesscope::figures
