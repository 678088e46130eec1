// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Norm of the Hessian against that of the gradient along a run, with the lines L0 + L1 |g|.
FigureKind smoothness_figure();

}  // namespace hesscope::figures
