// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/faithfulness.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/surface.h>

namespace hesscope::detail {
namespace {

const char* const kStep = "step";

const std::vector<std::string> kGridDimensions = {"beta", "alpha"};

Variable axis_quantity(const std::string& name, const std::string& direction) {
  return {.name = name,
          .dimensions = {name},
          .long_name = fmt::format("coordinate along {}", direction),
          .definition = fmt::format("factor of {} at a point of the plane", direction)};
}

}  // namespace

std::vector<Variable> direction_quantities() {
  std::vector<Variable> all;
  for (const char* index : {"1", "2"}) {
    all.push_back(
        {.name = fmt::format("direction_{}", index),
         .dimensions = {"parameter"},
         .long_name = fmt::format("direction {} of the plane", index),
         .definition = fmt::format(
             "as the attribute direction_{}_is of the group says; for random ones with "
             "normalization filter, normal numbers d, where each row f of a matrix, slice of a "
             "tensor, or whole vector is scaled to d_f |w_f| / |d_f|, with w the weights at the "
             "centre; not_computed where the grid does not leave the line",
             index),
         .references = {papers::kLi2018}});
    all.push_back({.name = fmt::format("direction_{}_norm", index),
                   .long_name = fmt::format("Euclidean norm of direction_{}", index),
                   .definition = "square root of the sum of its squared entries"});
  }
  all.push_back({.name = "direction_cosine",
                 .long_name = "cosine of the angle between the directions",
                 .definition = "d1^T d2 / (|d1| |d2|)"});
  return all;
}

Group trajectory_of(std::span<const CheckpointSummary> checkpoints,
                    std::span<const CheckpointRun> runs,
                    std::span<const Plane::Projection> places,
                    Status status) {
  Group trajectory{
      .variables = {
          {.name = "trajectory_step",
           .type = VariableType::kInt64,
           .dimensions = {kStep},
           .long_name = "step of a checkpoint",
           .definition = "as /step"},
          {.name = "trajectory_run",
           .type = VariableType::kInt64,
           .dimensions = {kStep},
           .long_name = "run that a checkpoint belongs to",
           .definition = "counted from 0; the checkpoints of one run, in the order of its "
                         "training, form a path, and those of different runs are not joined",
           .undefined = {Status::kUndefinedNoOrder}}}};
  std::vector<std::int64_t> steps;
  std::vector<Status> step_statuses;
  std::vector<Status> statuses;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const std::optional<std::int64_t>& step = checkpoints[i].checkpoint.step;
    steps.push_back(step.value_or(kMissingCount));
    step_statuses.push_back(step ? Status::kOk : Status::kNotComputed);
    const bool is_fine = status != Status::kOk || std::isfinite(places[i].residual);
    statuses.push_back(is_fine ? status : Status::kNonFinite);
  }
  trajectory["trajectory_step"].values = std::move(steps);
  trajectory["trajectory_step"].statuses = std::move(step_statuses);
  std::vector<std::int64_t> run_numbers(checkpoints.size(), kMissingCount);
  std::vector<Status> run_statuses(checkpoints.size(), Status::kUndefinedNoOrder);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!runs[r].is_ordered) continue;
    for (std::size_t i = runs[r].first; i < runs[r].first + runs[r].size; ++i) {
      run_numbers[i] = static_cast<std::int64_t>(r);
      run_statuses[i] = Status::kOk;
    }
  }
  trajectory["trajectory_run"].values = std::move(run_numbers);
  trajectory["trajectory_run"].statuses = std::move(run_statuses);
  const auto add = [&](const char* name,
                       const char* long_name,
                       const char* definition,
                       const auto& value_of,
                       const std::vector<Status>& statuses_of) {
    Variable variable{
        .name = name, .dimensions = {kStep}, .long_name = long_name, .definition = definition};
    std::vector<double> values;
    for (std::size_t i = 0; i < checkpoints.size(); ++i) values.push_back(value_of(i));
    variable.set_numbers(std::move(values), statuses_of);
    trajectory.add(std::move(variable));
  };
  add(
      "trajectory_alpha",
      "alpha of a checkpoint's projection on the plane",
      "of the plane's point nearest to the checkpoint's weights",
      [&](std::size_t i) { return places[i].alpha; },
      statuses);
  add(
      "trajectory_beta",
      "beta of a checkpoint's projection on the plane",
      "of the plane's point nearest to the checkpoint's weights; 0 on a line",
      [&](std::size_t i) { return places[i].beta; },
      statuses);
  add(
      "trajectory_residual",
      "distance of a checkpoint from the plane",
      "Euclidean distance of the checkpoint's weights from their projection",
      [&](std::size_t i) { return places[i].residual; },
      statuses);
  std::vector<Status> loss_statuses;
  for (const CheckpointSummary& checkpoint : checkpoints) {
    loss_statuses.push_back(checkpoint.status);
  }
  add(
      "trajectory_loss",
      "loss at a checkpoint",
      "at the checkpoint's own weights, not at their projection",
      [&](std::size_t i) { return checkpoints[i].loss; },
      loss_statuses);
  return trajectory;
}

LandscapeFile::LandscapeFile(const std::filesystem::path& output,
                             io::Existing existing,
                             const LandscapeHeader& header)
    : CheckpointResult(output, existing, header.subject, header.provenance, header.configuration) {
  define_axes(header.grid);
  describe(header.description);
  define_steps(header.checkpoints.size(), header.provenance.steps);
  for (const Variable& quantity : surface_quantities(header.description.curvature)) {
    quantities().define(io::kLandscapeGroup, quantity, kGridDimensions, 2);
  }
  for (const Variable& quantity : direction_quantities()) {
    quantities().define(io::kLandscapeGroup, quantity, quantity.dimensions, 0);
  }
  for (const Variable& quantity : header.scalars)
    quantities().define(io::kLandscapeGroup, quantity, {}, 0);
  for (const Variable& quantity : trajectory_of({}, {}, {}, Status::kNotComputed).variables) {
    quantities().define(io::kLandscapeGroup, quantity, quantity.dimensions, 1);
  }
  for (std::size_t i = 0; i < header.checkpoints.size(); ++i) {
    name_checkpoint(i, header.checkpoints[i], header.digests[i]);
  }
}

void LandscapeFile::describe(const LandscapeDescription& description) {
  const auto attribute = [&](const std::string& name, const AttributeValue& value) {
    file().set_attribute(io::kLandscapeGroup, {name, value});
  };
  attribute("directions", description.directions);
  const std::vector<std::string>& descriptions = description.direction_descriptions;
  for (std::size_t k = 0; k < descriptions.size(); ++k) {
    attribute(fmt::format("direction_{}_is", k + 1), descriptions[k]);
  }
  if (!description.direction_digests.empty()) {
    attribute("direction_files_sha256",
              fmt::format("{}", fmt::join(description.direction_digests, " ")));
  }
  if (!description.normalization.empty()) {
    attribute("normalization", description.normalization);
    attribute("leaves_out_vectors", std::int8_t{description.leaves_out_vectors});
  }
  attribute("seed", static_cast<std::int64_t>(description.seed));
  attribute("centre", static_cast<std::int64_t>(description.centre));
}

void LandscapeFile::define_axes(const Grid& grid) {
  const auto define = [&](const char* name, const Eigen::VectorXd& axis, const char* direction) {
    file().define_dimension(io::kLandscapeGroup, name, static_cast<std::uint64_t>(axis.size()));
    file().define_variable(io::kLandscapeGroup, axis_quantity(name, direction));
    file().write(io::kLandscapeGroup,
                 name,
                 std::span<const double>(axis.data(), static_cast<std::size_t>(axis.size())));
  };
  define("alpha", grid.alpha, "direction_1");
  define("beta", grid.beta, "direction_2");
}

void LandscapeFile::define_steps(std::size_t count, const std::vector<std::int64_t>& steps) {
  file().define_dimension(io::kLandscapeGroup, kStep, count);
  if (steps.empty()) return;
  quantities().add_coordinate(io::kLandscapeGroup,
                              {.name = kStep,
                               .type = VariableType::kInt64,
                               .dimensions = {kStep},
                               .long_name = "step of a checkpoint",
                               .definition = "as /step",
                               .values = steps});
}

void LandscapeFile::write_parts(const LandscapeParts& parts) {
  for (const Group* part : {&parts.directions, &parts.scalars, &parts.surface, &parts.trajectory}) {
    for (const Variable& variable : part->variables) {
      if (variable.is_said()) quantities().write(io::kLandscapeGroup, variable);
    }
  }
}

}  // namespace hesscope::detail

namespace hesscope {

Group landscape_quantities() {
  Group all{.name = std::string(io::kLandscapeGroup)};
  const auto add = [&all](const std::vector<Variable>& variables) {
    for (const Variable& variable : variables) all.add(variable);
  };
  add({detail::axis_quantity("alpha", "direction_1"),
       detail::axis_quantity("beta", "direction_2")});
  for (Variable& quantity : surface_quantities(true)) {
    quantity.dimensions = detail::kGridDimensions;
    all.add(quantity);
  }
  add(detail::direction_quantities());
  for (const DirectionKind& kind : direction_kinds()) add(kind.quantities);
  add(centre_quantities());
  add(quadratic_model_quantities());
  add(barrier_quantities());
  add(detail::trajectory_of({}, {}, {}, Status::kNotComputed).variables);
  return all;
}

}  // namespace hesscope
