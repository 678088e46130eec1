// SPDX-License-Identifier: BSD-3-Clause
//
// A quantity over training steps: mean over seeds, with a band.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind curves_kind();

}  // namespace hesscope::detail
