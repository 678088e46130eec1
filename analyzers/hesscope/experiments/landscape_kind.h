// SPDX-License-Identifier: BSD-3-Clause
//
// The loss on a plane through a checkpoint of each variant and run, side by side.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind landscape_kind();

}  // namespace hesscope::detail
