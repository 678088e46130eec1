// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// The spectrum of one checkpoint as a density, from all eigenvalues and by quadrature.
FigureKind density_figure();

}  // namespace hesscope::figures
