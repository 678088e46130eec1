// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/internal/landscape_reading.h>
#include <hesscope/landscape/internal/landscape_summary.h>
#include <hesscope/landscape/surface.h>

namespace hesscope::detail {
namespace {

std::vector<Quantity> without_dimensions(std::vector<Quantity> quantities) {
  std::erase_if(quantities, [](const Quantity& each) { return !each.dimensions.empty(); });
  return quantities;
}

[[noreturn]] void refuse(const io::ResultReader& file, const char* why) {
  throw InputError(
      fmt::format("{}: {}; the landscape must be computed again (`Overwrite::kOwnKind`)",
                  file.path().string(),
                  why));
}

Grid read_grid(const io::ResultReader& file) {
  const auto axis = [&](const char* name) -> Eigen::VectorXd {
    const std::vector<double> values = file.read_doubles(io::kLandscapeGroup, name);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
  };
  Grid grid = {axis("alpha"), axis("beta")};
  if (grid.num_points() == 0) refuse(file, "its grid has no points");
  return grid;
}

// Values of the loss alone, which is what a summary is made from; statuses of all.
std::vector<SurfaceValues> read_surface(const io::ResultReader& file,
                                        bool curvature,
                                        std::size_t num_points) {
  std::vector<SurfaceValues> all;
  for (const Quantity& quantity : surface_quantities(curvature)) {
    SurfaceValues& values = all.emplace_back(SurfaceValues{quantity, {}, {}});
    if (all.size() == 1) {
      values.values = file.read_doubles(io::kLandscapeGroup, quantity.name);
      if (values.values.size() != num_points)
        refuse(file, "not every point of its grid has a loss");
    }
    values.statuses = read_statuses(file, io::kLandscapeGroup, quantity.name, num_points);
  }
  return all;
}

std::vector<TrajectoryPoint> read_trajectory(const io::ResultReader& file, std::size_t count) {
  const std::vector<Quantity> quantities = real_numbers(
      {"trajectory_alpha", "trajectory_beta", "trajectory_residual", "trajectory_loss"});
  std::vector<TrajectoryPoint> trajectory;
  for (const Record& record : read_records(file, io::kLandscapeGroup, quantities, count)) {
    const auto real = [&](std::size_t k) -> const Record::Real& {
      return std::get<Record::Real>(record.entries().at(quantities[k].name));
    };
    const auto value = [&](std::size_t k) { return real(k).values.at(0); };
    trajectory.push_back(
        {{value(0), value(1), value(2)}, real(0).status, value(3), real(3).status});
  }
  return trajectory;
}

}  // namespace

LandscapeResult read_landscape(const LandscapeRequest& request,
                               const LandscapeInputs& inputs,
                               const std::vector<Quantity>& scalars) {
  const io::ResultReader file(request.output);
  const std::size_t count = inputs.files().checkpoints.size();
  const Grid grid = read_grid(file);
  LandscapeResult result;
  summarize_roots(
      inputs, read_records(file, "", real_numbers({"loss", "gradient_norm"}), count), grid, result);
  const std::vector<Quantity> directions = all_direction_quantities(inputs);
  summarize_landscape(
      {.surface =
           read_surface(file, request.curvature, static_cast<std::size_t>(grid.num_points())),
       .trajectory = read_trajectory(file, count),
       .directions = read_record(file, io::kLandscapeGroup, without_dimensions(directions)),
       .scalars = read_record(file, io::kLandscapeGroup, without_dimensions(scalars))},
      directions,
      scalars,
      result);
  result.warnings = warnings_of_result(file);
  result.is_conclusive = is_conclusive_result(file);
  result.is_done_already = true;
  return result;
}

}  // namespace hesscope::detail
