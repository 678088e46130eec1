// SPDX-License-Identifier: BSD-3-Clause
//
// When quantities reach levels, and in which order.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind events_kind();

}  // namespace hesscope::detail
