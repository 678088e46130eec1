// SPDX-License-Identifier: BSD-3-Clause
//
// What a GraphObjective is made of: the graph's sums, what structure adds to them, and the ranks
// that share them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <hesscope/core/executor.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/internal/structured_sums.h>
#include <hesscope/objective/internal/sweep_sums.h>
#include <hesscope/objective/internal/team_calls.h>

namespace hesscope {

struct GraphObjective::Impl {
  Impl(Model m, std::shared_ptr<const SampleTable> s, const Options& options);

  // What compute() returns, on the first rank of a team with the others' help. Of those each makes
  // the same call.
  template <typename F>
  auto shared(detail::TeamCallKind kind,
              const ConstVectorRef& theta,
              SampleRange range,
              const F& compute,
              const ConstMatrixRef& directions = Matrix()) const {
    Team* const others = ranks.team();
    if (others == nullptr || others->rank() != 0) return compute();
    const detail::TeamCall call{.kind = kind,
                                .objective = team_number,
                                .range = range,
                                .num_parameters = theta.size(),
                                .num_directions = directions.cols()};
    std::optional<decltype(compute())> result;
    executor.isolated([&] {
      others->call([&] { detail::announce(*others, call, theta, directions); },
                   [&] { result.emplace(compute()); });
    });
    return *std::move(result);
  }

  // Means are of the graph alone.
  double mean_loss(const ConstVectorRef& theta, SampleRange range) const;

  Matrix mean_hessian(const ConstVectorRef& theta,
                      SampleRange range,
                      const ProgressCallback& progress) const;

  // Whether what was found in the graph has lost no digits. It sums over the places where
  // parameters are used, and curvatures there that are far larger than H cancel last: of a loss
  // with finite differences ((f(x + d) - f(x)) / d)^2, by the square of what the generic engine
  // loses, which takes the differences of derivatives first.
  bool is_exact(const ConstVectorRef& theta, SampleRange range, const Matrix& h) const;

  // What has no room needs no plan, which grows with the number of parameters, too.
  bool has_room_for_hessian() const;

  // The model's own, or that found in its graph; null for the generic engine.
  const StructuredHessian* structured_hessian() const;

  // w/2 |theta|^2; of a copy, as Eigen adds up in an order that depends on where a vector begins.
  double decay(const ConstVectorRef& theta) const;

  // With the term's value and gradient added to those of the graph.
  template <typename F>
  ValueAndGradient with_decay(const ConstVectorRef& theta, const F& of_graph) const {
    ValueAndGradient found = of_graph();
    if (model.weight_decay == 0) return found;
    found.value += decay(theta);
    found.gradient += model.weight_decay * theta;
    return found;
  }

  bool has_finite_inputs(const ConstVectorRef& theta, SampleRange range) const;

  Model model;
  std::shared_ptr<const SampleTable> samples;
  Executor executor;
  std::shared_ptr<Team> team;
  std::int64_t team_number;
  Executor ranks;            // the executor's threads, and what a team adds to them
  bool by_factors;           // the full Gauss-Newton matrix
  const DataArray* answers;  // of the model; null where it does not classify
  detail::SweepSums sums;
  std::optional<detail::StructuredSums> structured_sums;  // values and gradients, where there are
  bool use_structure;
  InstructionSet instruction_set;
  mutable std::once_flag is_planned;
  mutable std::shared_ptr<const GraphHessian> found_hessian;
  std::once_flag is_searched;
  std::vector<Invariance> found_invariances;  // where the model's kind knows none
};

}  // namespace hesscope
