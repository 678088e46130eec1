// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/hessian_cost.h>
#include <hesscope/paths/internal/path_inputs.h>
#include <hesscope/paths/path.h>
#include <hesscope/spectra/decomposition_cost.h>

namespace hesscope {

PathPlan plan_path(const PathRequest& request) {
  const detail::PathInputs inputs(request);
  const Objective& objective = inputs.objective();
  PathPlan plan;
  foresee_run(request, inputs.files(), "path", inputs.configuration(request), plan);
  plan.num_images = request.num_images;
  constexpr double kEnough = 0.02;  // seconds
  double seconds = 0;
  double count = 0;
  for (; seconds < kEnough; ++count) {
    const Stopwatch watch(seconds);
    objective.gradient(inputs.first());
  }
  const auto images = static_cast<double>(request.num_images);
  const auto n = static_cast<double>(plan.num_parameters);
  plan.seconds = static_cast<double>(request.max_steps) * images * seconds / count;
  plan.peak_memory_bytes = objective.workspace_bytes() + 8 * images * n * sizeof(double);
  if (plan.num_parameters <= kLargestAssembled) {
    // The pass, with some ten Newton steps and the numbers computed there, and the images. At the
    // pass, nine matrices are held, as in the analyzer of critical points.
    constexpr double kSteps = 10;
    constexpr double kMatrices = 9;
    const HessianCost cost = estimate_hessian_cost(objective, inputs.first());
    const double decomposition = estimate_decomposition_seconds(plan.num_parameters);
    plan.seconds += ((request.has_spectrum ? images : 0) + kSteps) * (cost.seconds + decomposition);
    plan.peak_memory_bytes += cost.memory_bytes + kMatrices * n * n * sizeof(double);
  }
  return plan;
}

}  // namespace hesscope
