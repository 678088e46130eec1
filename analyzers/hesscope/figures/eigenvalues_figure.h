// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Smallest, median and largest eigenvalue over training steps, with the band of rounding.
FigureKind eigenvalues_figure();

}  // namespace hesscope::figures
