// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of figures of experiments.
#pragma once

#include <span>

#include <hesscope/reproduction/internal/experiment_figure_kind.h>

namespace hesscope::detail {

std::span<const ExperimentFigureKind> experiment_figure_kinds();

}  // namespace hesscope::detail
