// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Loss and gradient norm over training steps.
FigureKind history_figure();

}  // namespace hesscope::figures
