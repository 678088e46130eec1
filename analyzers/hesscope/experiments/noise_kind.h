// SPDX-License-Identifier: BSD-3-Clause
//
// Gradient noise at one checkpoint of each variant: histogram and normal QQ plot.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind noise_kind();

}  // namespace hesscope::detail
