// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <hesscope/experiments/contingency_kind.h>
#include <hesscope/experiments/convergence_kind.h>
#include <hesscope/experiments/curves_kind.h>
#include <hesscope/experiments/events_kind.h>
#include <hesscope/experiments/experiment_figure_registry.h>
#include <hesscope/experiments/landscape_kind.h>
#include <hesscope/experiments/noise_kind.h>
#include <hesscope/experiments/rates_kind.h>
#include <hesscope/experiments/ratios_kind.h>
#include <hesscope/experiments/scatter_kind.h>
#include <hesscope/experiments/table_kind.h>
#include <hesscope/experiments/traces_kind.h>

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
  };
  return kinds;
}

}  // namespace hesscope::detail
