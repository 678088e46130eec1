// SPDX-License-Identifier: BSD-3-Clause
//
// How the signs of two quantities move from one step to another: counts of pairs by sign then and
// sign now.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind contingency_kind();

}  // namespace hesscope::detail
