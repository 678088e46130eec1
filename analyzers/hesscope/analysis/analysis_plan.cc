// SPDX-License-Identifier: BSD-3-Clause
//
// What a run will need.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/core/memory.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/spectra/distributed_cost.h>
#include <hesscope/spectra/internal/distributed_layout.h>

namespace hesscope {
namespace {

bool is_finite_point(const Eigen::VectorXd& point) { return point.allFinite(); }

// The part of a plan that concerns ranks.
void foresee_ranks(AnalysisPlan& plan,
                   const AnalysisRequest& request,
                   bool proves_fully,
                   int threads) {
  const Eigen::Index n = plan.num_parameters;
  plan.num_ranks = request.num_ranks();
  plan.grid = grid_of(plan.num_ranks, request.grid());
  plan.threads = threads;
  const double here = memory_limit_bytes();
  plan.ranks_here =
      static_cast<int>(std::min<double>(plan.num_ranks, here / plan.peak_memory_bytes));
  // What a machine has left for the matrix: its memory without everything else that a rank needs.
  const double rest = here - (plan.peak_memory_bytes -
                              distributed_bytes(n, plan.num_ranks, plan.grid, proves_fully));
  plan.least_ranks = least_ranks(n, rest, proves_fully);
  if (ranks_suffice(n, plan.num_ranks, plan.grid, rest, proves_fully)) return;
  plan.warnings.push_back(fmt::format(
      "a Hessian of {} parameters is too large for {} x {} ranks: each would take {:.3g} GB of "
      "memory "
      "and hold {:.3g} of its entries, a machine like this has {:.3g} GB, and ScaLAPACK counts to "
      "{:.3g}; {}",
      n,
      plan.grid,
      plan.grid,
      plan.peak_memory_bytes / 1e9,
      std::pow(static_cast<double>(n) / plan.grid, 2),
      here / 1e9,
      detail::most_entries(n, proves_fully),
      plan.least_ranks > 0
          ? fmt::format("{} ranks are the fewest that would do, one to a machine", plan.least_ranks)
          : "on machines like this no number of ranks would do"));
}

}  // namespace

AnalysisPlan plan_analysis(const AnalysisRequest& request) {
  const double start = wall_seconds();
  const detail::AnalysisInputs inputs = detail::open_inputs(request);
  const double load_seconds = wall_seconds() - start;
  const GraphObjective& objective = inputs.problem.objective();
  AnalysisPlan plan;
  foresee_run(request, inputs, "analysis", inputs.configuration(request), plan);
  plan.num_checkpoints = inputs.checkpoints.size();
  if (const auto hessian = objective.hessian_plan()) {
    plan.hessian_directions = hessian->directions;
    plan.hessian_multiply_adds =
        hessian->multiply_adds() * static_cast<double>(objective.num_samples());
  }
  for (const detail::ChosenAnalyzer& chosen : inputs.analyzers) {
    chosen.analyzer->dimensions(objective);  // refuses what a run would refuse
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
  plan.peak_memory_bytes = costs.memory_bytes;
  if (request.method == SpectrumMethod::kDistributed)
    foresee_ranks(plan, request, inputs.proves_fully, objective.executor().num_threads());
  plan.seconds = load_seconds + static_cast<double>(num_finite) * costs.seconds();
  return plan;
}

}  // namespace hesscope
