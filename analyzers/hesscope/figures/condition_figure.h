// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Condition numbers over training steps.
FigureKind condition_figure();

}  // namespace hesscope::figures
