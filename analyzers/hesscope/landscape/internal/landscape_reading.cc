// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/internal/landscape_reading.h>
#include <hesscope/landscape/internal/landscape_summary.h>
#include <hesscope/landscape/surface.h>

namespace hesscope::detail {
namespace {

std::vector<Variable> without_dimensions(std::vector<Variable> quantities) {
  std::erase_if(quantities, [](const Variable& each) { return !each.dimensions.empty(); });
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

// Reads the values of the loss only, from which a summary is made, but the statuses of everything.
Group read_surface(const io::ResultReader& file, bool curvature, std::size_t num_points) {
  Group surface{.variables = surface_quantities(curvature)};
  for (Variable& variable : surface.variables) {
    if (&variable == &surface.variables.front()) {
      std::vector<double> losses = file.read_doubles(io::kLandscapeGroup, variable.name);
      if (losses.size() != num_points) refuse(file, "not every point of its grid has a loss");
      variable.values = std::move(losses);
    }
    variable.statuses = read_statuses(file, io::kLandscapeGroup, variable.name, num_points);
  }
  return surface;
}

Group read_trajectory(const io::ResultReader& file, std::size_t count) {
  Group trajectory{
      .variables = real_numbers({"trajectory_alpha", "trajectory_beta", "trajectory_residual"})};
  for (Variable& variable : trajectory.variables) {
    std::vector<double> places = file.read_doubles(io::kLandscapeGroup, variable.name);
    if (places.size() != count) refuse(file, "not every checkpoint has a place on the plane");
    variable.set_numbers(std::move(places),
                         read_statuses(file, io::kLandscapeGroup, variable.name, count));
  }
  return trajectory;
}

}  // namespace

void read_landscape(const LandscapeRequest& request,
                    const LandscapeInputs& inputs,
                    LandscapeResult& result) {
  const io::ResultReader file(request.output);
  const std::size_t count = inputs.files().checkpoints.size();
  const Grid grid = read_grid(file);
  summarize_roots(
      inputs, read_records(file, "", real_numbers({"loss", "gradient_norm"}), count), grid, result);
  summarize_landscape(
      {.surface =
           read_surface(file, request.curvature, static_cast<std::size_t>(grid.num_points())),
       .trajectory = read_trajectory(file, count),
       .directions = read_record(
           file, io::kLandscapeGroup, without_dimensions(inputs.view().direction_quantities())),
       .scalars = read_record(file, io::kLandscapeGroup, inputs.view().scalars())},
      result);
  read_conclusion(file, result);
}

}  // namespace hesscope::detail
