// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <hesscope/reproduction/internal/experiment_figure_registry.h>
#include <hesscope/reproduction/internal/experiment_figures.h>

namespace hesscope::detail {

std::span<const ExperimentFigureKind> experiment_figure_kinds() {
  static const std::vector<ExperimentFigureKind> kinds = {
      curves_kind(),
      ratios_kind(),
      rates_kind(),
      noise_kind(),
      scatter_kind(),
      table_kind(),
      convergence_kind(),
      landscape_kind(),
      traces_kind(),
      events_kind(),
      contingency_kind(),
      blocks_kind(),
  };
  return kinds;
}

}  // namespace hesscope::detail
