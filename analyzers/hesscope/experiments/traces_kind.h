// SPDX-License-Identifier: BSD-3-Clause
//
// Quantities step by step from one seed, a line for each sample, neuron or other element.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind traces_kind();

}  // namespace hesscope::detail
