// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/core/constants.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/internal/landscape_summary.h>

namespace hesscope::detail {
namespace {

HeadlineNumber number(const std::string& name, double value, Status status = Status::kOk) {
  return {io::kLandscapeGroup, name, status == Status::kOk ? value : kNaN, status};
}

// Adds a warning; the result is then no longer conclusive.
void warn(const std::string& message, LandscapeResult& result) {
  result.warnings.push_back(message);
  result.is_conclusive = false;
}

// Summarizes the checkpoints with their positions on the plane.
void summarize_trajectory(const Group& trajectory, LandscapeResult& result) {
  for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
    CheckpointSummary& summary = result.checkpoints[i];
    for (const char* name : {"alpha", "beta", "residual"}) {
      const Variable& variable = trajectory[std::string("trajectory_") + name];
      summary.numbers.push_back(number(name, variable.reals()[i], variable.statuses[i]));
    }
    if (summary.status != Status::kOk) {
      warn(fmt::format("{}: {}", summary.checkpoint.path.string(), to_string(summary.status)),
           result);
    }
  }
}

// Summarizes the extremes of the loss on the grid, and the number of points where it is not finite.
void summarize_surface(const Group& surface, const Grid& grid, LandscapeResult& result) {
  const std::vector<double>& losses = surface.variables.front().reals();
  double lowest = kNaN;
  double highest = kNaN;
  Eigen::Index place = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) {
      ++result.num_non_finite;
      continue;
    }
    if (!(losses[i] >= lowest)) {
      lowest = losses[i];
      place = static_cast<Eigen::Index>(i);
    }
    if (!(losses[i] <= highest)) highest = losses[i];
  }
  const Status status = std::isnan(lowest) ? Status::kNonFinite : Status::kOk;
  result.numbers.push_back(number("loss_min", lowest, status));
  result.numbers.push_back(number("loss_min_alpha", grid.alpha_of(place), status));
  result.numbers.push_back(number("loss_min_beta", grid.beta_of(place), status));
  result.numbers.push_back(number("loss_max", highest, status));
  for (const Variable& variable : surface.variables) {
    const auto failed = std::ranges::count(variable.statuses, Status::kFailed);
    if (failed == 0) continue;
    warn(fmt::format("{}/{}: failed at {} points", io::kLandscapeGroup, variable.name, failed),
         result);
  }
}

void summarize_scalars(const Group& scalars, LandscapeResult& result) {
  for (const Variable& scalar : scalars.variables) {
    const Status status = scalar.status();
    if (status == Status::kNotComputed) continue;
    if (scalar.dimensions.empty()) {
      result.numbers.push_back(number(scalar.name, scalar.number(), status));
    }
    if (is_conclusive(status)) continue;
    result.is_conclusive = false;
    if (result.checkpoints[result.centre].status == Status::kOk) {  // otherwise already reported
      warn(fmt::format("{}/{}: {}", io::kLandscapeGroup, scalar.name, to_string(status)), result);
    }
  }
  for (const Variable& scalar : scalars.variables) {
    if (scalar.is_proved) continue;
    warn(fmt::format("{}/{}: {}", io::kLandscapeGroup, scalar.name, kUnproved), result);
  }
}

// If eigenvalues coincide, their eigenvectors are an arbitrary basis: another one would be as good,
// and its surface may look different.
void summarize_gaps(const Group& directions, LandscapeResult& result) {
  for (const char* const index : {"1", "2"}) {
    const Variable* const gap = directions.find(std::string("gap_") + index);
    if (gap == nullptr || gap->status() != Status::kOk || !(gap->number() <= kClusterGap)) continue;
    result.warnings.push_back(fmt::format(
        "{}/direction_{}: its eigenvalue and the next are one within {:g} of the "
        "largest magnitude, so that the direction is any of a space of eigenvectors, and "
        "the surface with it",
        io::kLandscapeGroup,
        index,
        kClusterGap));
  }
}

}  // namespace

void summarize_roots(const LandscapeInputs& inputs,
                     const std::vector<Group>& roots,
                     const Grid& grid,
                     LandscapeResult& result) {
  result.checkpoints = summaries_of(inputs.files(), roots);
  result.centre = inputs.view().centre_index();
  result.num_points = grid.num_points();
  result.grid = grid;
}

void summarize_landscape(const LandscapeParts& parts, LandscapeResult& result) {
  summarize_surface(parts.surface, result.grid, result);
  summarize_trajectory(parts.trajectory, result);
  summarize_scalars(parts.directions, result);
  summarize_gaps(parts.directions, result);
  summarize_scalars(parts.scalars, result);
}

}  // namespace hesscope::detail
