// SPDX-License-Identifier: BSD-3-Clause
//
// Quantities at given steps, or at the end: mean and spread over seeds.
#pragma once

#include <hesscope/experiments/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind table_kind();

}  // namespace hesscope::detail
