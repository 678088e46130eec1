// SPDX-License-Identifier: BSD-3-Clause
//
// What a run will need.
#include <algorithm>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/spectra/distributed_cost.h>

namespace hesscope {
namespace {

bool is_finite_point(const Eigen::VectorXd& point) { return point.allFinite(); }

}  // namespace

AnalysisPlan plan_analysis(const AnalysisRequest& request) {
  const double start = wall_seconds();
  const detail::AnalysisInputs inputs = detail::open_inputs(request);
  const double load_seconds = wall_seconds() - start;
  const GraphObjective& objective = inputs.problem.objective();
  AnalysisPlan plan;
  plan.model_kind = inputs.problem.model().kind;
  plan.num_checkpoints = inputs.checkpoints.size();
  plan.warnings = inputs.warnings;
  plan.num_parameters = objective.num_parameters();
  plan.num_samples = objective.num_samples();
  if (const auto hessian = objective.hessian_plan()) {
    plan.hessian_directions = hessian->directions;
    plan.hessian_multiply_adds =
        hessian->multiply_adds() * static_cast<double>(objective.num_samples());
  }
  plan.is_done_already = request.overwrite == io::Overwrite::kNothing &&
                         detail::is_result_of(request.output, inputs.configuration(request));
  for (const detail::ChosenAnalyzer& chosen : inputs.analyzers) {
    chosen.analyzer->dimensions(objective);  // refuses what a run would
    plan.analyzers.push_back(chosen.name);
  }
  const auto num_finite =
      std::count_if(inputs.points.begin(), inputs.points.end(), is_finite_point);
  plan.num_non_finite = plan.num_checkpoints - static_cast<std::size_t>(num_finite);

  const detail::AnalysisCosts costs =
      detail::measured_costs({.objective = &objective,
                              .theta = &detail::some_finite(inputs.points),
                              .fresh_samples = inputs.problem.fresh_samples(),
                              .method = request.method,
                              .num_ranks = request.num_ranks(),
                              .grid = request.grid(),
                              .analyzers = inputs.analyzers});
  if (request.method == SpectrumMethod::kDistributed) {
    plan.num_ranks = request.num_ranks();
    plan.grid = request.grid() > 0 ? request.grid() : largest_grid(plan.num_ranks);
  }
  plan.peak_memory_bytes = costs.memory_bytes;
  plan.seconds = load_seconds + static_cast<double>(num_finite) * costs.seconds();
  return plan;
}

}  // namespace hesscope
