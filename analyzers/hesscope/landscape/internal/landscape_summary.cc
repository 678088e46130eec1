// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/internal/landscape_summary.h>

namespace hesscope::detail {
namespace {

HeadlineNumber number(const std::string& name, double value, Status status = Status::kOk) {
  return {io::kLandscapeGroup, name, status == Status::kOk ? value : kNaN, status};
}

// A warning, and the result is no longer conclusive.
void warn(const std::string& message, LandscapeResult& result) {
  result.warnings.push_back(message);
  result.is_conclusive = false;
}

// The checkpoints with their places on the plane.
void summarize_trajectory(const std::vector<TrajectoryPoint>& trajectory, LandscapeResult& result) {
  for (std::size_t i = 0; i < trajectory.size(); ++i) {
    CheckpointSummary& summary = result.checkpoints[i];
    const TrajectoryPoint& point = trajectory[i];
    summary.numbers = {number("alpha", point.place.alpha, point.status),
                       number("beta", point.place.beta, point.status),
                       number("residual", point.place.residual, point.status)};
    if (summary.status != Status::kOk) {
      warn(fmt::format("{}: {}", summary.checkpoint.path.string(), to_string(summary.status)),
           result);
    }
  }
}

// The extremes of the loss on the grid, and the number of points where it is not finite.
void summarize_surface(const std::vector<SurfaceValues>& surface,
                       const Grid& grid,
                       LandscapeResult& result) {
  const std::vector<double>& losses = surface.front().values;
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
  for (const SurfaceValues& values : surface) {
    const auto failed = std::count(values.statuses.begin(), values.statuses.end(), Status::kFailed);
    if (failed == 0) continue;
    warn(fmt::format(
             "{}/{}: failed at {} points", io::kLandscapeGroup, values.quantity.name, failed),
         result);
  }
}

// In the order of the quantities.
void summarize_scalars(const std::vector<Quantity>& quantities,
                       const Record& record,
                       LandscapeResult& result) {
  for (const Quantity& quantity : quantities) {
    const auto found = record.entries().find(quantity.name);
    if (found == record.entries().end()) continue;
    const auto& real = std::get<Record::Real>(found->second);
    if (real.status != Status::kNotComputed && quantity.dimensions.empty()) {
      result.numbers.push_back(
          number(quantity.name, real.values.empty() ? kNaN : real.values.front(), real.status));
    }
    if (is_conclusive(real.status) || real.status == Status::kNotComputed) continue;
    result.is_conclusive = false;
    if (result.checkpoints[result.centre].status == Status::kOk) {  // else it is said already
      warn(fmt::format("{}/{}: {}", io::kLandscapeGroup, quantity.name, to_string(real.status)),
           result);
    }
  }
  for (const std::string& name : record.unproved()) {
    warn(fmt::format("{}/{}: converged without a count, so another eigenvalue may have been missed",
                     io::kLandscapeGroup,
                     name),
         result);
  }
}

}  // namespace

std::vector<Quantity> all_direction_quantities(const LandscapeInputs& inputs) {
  std::vector<Quantity> all = direction_quantities();
  const std::vector<Quantity>& own = inputs.kind().quantities;
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

void summarize_roots(const LandscapeInputs& inputs,
                     const std::vector<Record>& roots,
                     const Grid& grid,
                     LandscapeResult& result) {
  const auto real = [](const Record& record, const char* name) -> const Record::Real& {
    return std::get<Record::Real>(record.entries().at(name));
  };
  for (std::size_t i = 0; i < roots.size(); ++i) {
    result.checkpoints.push_back({.checkpoint = inputs.files().checkpoints[i],
                                  .sha256 = inputs.files().digests[i],
                                  .loss = real(roots[i], "loss").values.at(0),
                                  .gradient_norm = real(roots[i], "gradient_norm").values.at(0),
                                  .status = root_status(roots[i]),
                                  .numbers = {}});
  }
  result.centre = inputs.centre_index();
  result.num_points = grid.num_points();
  result.grid = grid;
}

void summarize_landscape(const LandscapeParts& parts,
                         const std::vector<Quantity>& directions,
                         const std::vector<Quantity>& scalars,
                         LandscapeResult& result) {
  summarize_surface(parts.surface, result.grid, result);
  summarize_trajectory(parts.trajectory, result);
  summarize_scalars(directions, parts.directions, result);
  summarize_scalars(scalars, parts.scalars, result);
}

}  // namespace hesscope::detail
