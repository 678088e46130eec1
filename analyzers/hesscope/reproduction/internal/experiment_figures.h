// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of figures of experiments, each in the file with its name.
#pragma once

#include <hesscope/reproduction/internal/experiment_figure_kind.h>

namespace hesscope::detail {

ExperimentFigureKind curves_kind();

ExperimentFigureKind ratios_kind();

/// "rates": results of runs by their learning rate, and the best rate of each family.
ExperimentFigureKind rates_kind();

ExperimentFigureKind noise_kind();

ExperimentFigureKind scatter_kind();

ExperimentFigureKind table_kind();

ExperimentFigureKind convergence_kind();

ExperimentFigureKind landscape_kind();

ExperimentFigureKind traces_kind();

ExperimentFigureKind events_kind();

ExperimentFigureKind contingency_kind();

ExperimentFigureKind blocks_kind();

}  // namespace hesscope::detail
