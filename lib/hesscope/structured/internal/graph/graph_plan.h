// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/direction_products.h>

namespace hesscope::detail {

/// Everything known about a graph's Hessian before parameters and samples are given. The parts
/// refer to each other, so the object cannot be moved.
struct GraphPlan {
  GraphPlan(std::shared_ptr<const Graph> of,
            EntryNumbers numbers,
            ParameterUses found,
            InstructionSet set)
      : graph(std::move(of)),
        entries(std::move(numbers)),
        uses(std::move(found)),
        kernels(tangent_kernels(set)),
        sweeps(*graph, entries, uses),
        layout(sweeps, entries, uses),
        planner(sweeps, entries, uses, layout),
        kept(kept_rows(uses, layout, planner)),
        products(uses, layout, planner, set),
        direction_products(uses, entries, layout, planner, set) {}

  GraphPlan(const GraphPlan&) = delete;
  GraphPlan& operator=(const GraphPlan&) = delete;

  int num_uses() const { return static_cast<int>(uses.uses.size()); }

  /// Doubles in a PackPoint.
  long point_size() const {
    return long{layout.num_values() + layout.num_adjoints() + layout.num_coefficients()} *
           kPackSamples;
  }

  /// Doubles in a sweep: tangents, tangents of adjoints, and one byte per node.
  long sweep_size() const {
    return kernels.entries_size(layout.num_tangents() + layout.num_tangent_bars()) +
           (std::ssize(layout.nodes()) + sizeof(double) - 1) / sizeof(double);
  }

  std::shared_ptr<const Graph> graph;
  EntryNumbers entries;
  ParameterUses uses;
  const TangentKernels& kernels;
  SweepGraph sweeps;
  GraphLayout layout;
  DirectionPlanner planner;
  std::vector<KeptRows> kept;  ///< for each block
  CurvatureProducts products;
  DirectionProducts direction_products;
};

}  // namespace hesscope::detail
