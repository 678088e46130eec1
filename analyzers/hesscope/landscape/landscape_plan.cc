// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/surface.h>
#include <hesscope/objective/hessian_cost.h>
#include <hesscope/spectra/decomposition_cost.h>

namespace hesscope {
namespace {

// The grid that a run will have. A grid around the checkpoints needs the directions, which are then
// cheap compared with the grid.
Grid foreseen_grid(const LandscapeRequest& request, const detail::LandscapeView& view) {
  if (!view.is_framed()) return request.grid;
  const Group directions = view.make_directions();
  if (directions["direction_1"].status() != Status::kOk) return request.grid;
  return view.find_plane(directions).grid;
}

}  // namespace

LandscapePlan plan_landscape(const LandscapeRequest& request) {
  detail::LandscapeInputs inputs(request, {});
  detail::LandscapeView& view = inputs.view();
  const Objective& objective = view.centre().objective();
  const Eigen::VectorXd& theta = view.centre().theta();
  LandscapePlan plan;
  plan.num_checkpoints = request.checkpoints.size();
  plan.centre = inputs.files().checkpoints[view.centre_index()].path;
  plan.directions = view.prepared().descriptions;
  plan.num_points = request.grid.num_points();
  plan.grid = foreseen_grid(request, view);
  foresee_run(request, inputs.files(), "landscape", inputs.configuration(), plan);
  const auto points = static_cast<double>(plan.num_points);
  const auto n = static_cast<double>(plan.num_parameters);
  if (request.curvature) {
    // The memory of the grid, and of the spectrum at the centre.
    const int at_once =
        Surface::points_at_once(objective, {.curvature = true, .num_threads = request.num_threads});
    const HessianCost cost = estimate_hessian_cost(objective, theta);
    plan.seconds = (points + 1) * cost.seconds +
                   (points / at_once + 1) * estimate_decomposition_seconds(theta.size());
    plan.peak_memory_bytes = cost.memory_bytes + (4.0 * at_once - 1) * n * n * sizeof(double);
  } else {
    constexpr double kEnough = 0.02;  // seconds
    double seconds = 0;
    double count = 0;
    for (; seconds < kEnough; ++count) {
      const Stopwatch watch(seconds);
      objective.value(theta);
    }
    plan.seconds = points * seconds / count;
    plan.peak_memory_bytes = objective.workspace_bytes();
  }
  plan.peak_memory_bytes += 9 * points * (request.curvature ? 8 : 1);
  return plan;
}

}  // namespace hesscope
