// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Eigenvalues by rank: each checkpoint of one result, or one checkpoint of each of several.
FigureKind spectrum_figure();

}  // namespace hesscope::figures
