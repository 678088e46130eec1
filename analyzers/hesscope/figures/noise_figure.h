// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Gradient noise at one checkpoint: histogram with a normal fit, and normal QQ plot.
FigureKind noise_figure();

}  // namespace hesscope::figures
