// SPDX-License-Identifier: BSD-3-Clause
//
// One run's quantity over another's, seed by seed, at given steps.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind ratios_kind();

}  // namespace hesscope::detail
