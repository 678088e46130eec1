// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Norms of the Hessian's blocks, or distances between their spectra, at one checkpoint.
FigureKind blocks_figure();

}  // namespace hesscope::figures
