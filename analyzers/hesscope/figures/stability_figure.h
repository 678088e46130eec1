// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Sharpness over the largest stable one, along training steps: of gradient descent, with momentum,
/// and of the optimiser as preconditioned. Points whose second moments are recomputed are drawn
/// apart from those that the checkpoints hold, and the missing ones are counted.
FigureKind stability_figure();

}  // namespace hesscope::figures
