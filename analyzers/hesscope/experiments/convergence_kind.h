// SPDX-License-Identifier: BSD-3-Clause
//
// How far, and how fast, a quantity falls: at the end over seeds, and its rate by a straight line
// through its logarithm.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind convergence_kind();

}  // namespace hesscope::detail
