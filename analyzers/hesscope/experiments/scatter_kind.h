// SPDX-License-Identifier: BSD-3-Clause
//
// Two quantities of checkpoints against each other, coloured by step.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind scatter_kind();

}  // namespace hesscope::detail
