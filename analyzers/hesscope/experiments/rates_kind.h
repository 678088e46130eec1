// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

/// "rates": how far runs get by their learning rate, and the best rate of each family.
ExperimentFigureKind rates_kind();

}  // namespace hesscope::detail
