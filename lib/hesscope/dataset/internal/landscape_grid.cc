// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/landscape_grid.h>
#include <hesscope/storage/atomic_file.h>

namespace hesscope::io {
namespace {

const std::string kLoss = "loss";

bool is_field(const Variable& variable) {
  return variable.type != VariableType::kText && variable.type != VariableType::kOther &&
         variable.dimensions == std::vector<std::string>{"beta", "alpha"};
}

}  // namespace

bool has_landscape(const ResultReader& result) {
  const Variable* loss = result.find(kLandscapeGroup, kLoss);
  return loss != nullptr && loss->type == VariableType::kDouble && is_field(*loss);
}

LandscapeGrid read_landscape(const ResultReader& result) {
  if (!has_landscape(result)) {
    throw InputError(
        fmt::format("{}: holds no landscape, that is no variable /landscape/loss over "
                    "(beta, alpha); `run_landscape()` makes one",
                    result.path().string()));
  }
  LandscapeGrid grid;
  grid.alpha = result.read_doubles(kLandscapeGroup, "alpha");
  grid.beta = result.read_doubles(kLandscapeGroup, "beta");
  grid.fields.emplace_back(kLoss, result.read_doubles(kLandscapeGroup, kLoss));
  const auto group = std::find_if(result.groups().begin(),
                                  result.groups().end(),
                                  [](const Group& g) { return g.name == kLandscapeGroup; });
  for (const Variable& variable : group->variables) {
    if (!is_field(variable) || variable.name == kLoss) continue;
    grid.fields.emplace_back(variable.name, result.read(kLandscapeGroup, variable.name).numbers());
  }
  for (const auto& [name, values] : grid.fields) {
    require_on_grid(result, name, values.size(), grid.alpha.size(), grid.beta.size());
  }
  return grid;
}

void require_on_grid(const ResultReader& result,
                     const std::string& name,
                     std::size_t num_values,
                     std::size_t num_alpha,
                     std::size_t num_beta) {
  if (num_values == num_alpha * num_beta) return;
  throw InputError(fmt::format(
      "{}: variable '{}/{}': {} values where alpha and beta have {} and {}; compute the "
      "result again",
      result.path().string(),
      kLandscapeGroup,
      name,
      num_values,
      num_alpha,
      num_beta));
}

bool LandscapeTrajectory::has_place(std::size_t i) const {
  return std::isfinite(alpha[i]) && std::isfinite(beta[i]);
}

std::vector<std::vector<std::size_t>> LandscapeTrajectory::paths() const {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!has_place(i)) continue;
    const bool goes_on =
        !all.empty() && runs[i] != kMissingCount && runs[all.back().back()] == runs[i];
    if (!goes_on) all.emplace_back();
    all.back().push_back(i);
  }
  return all;
}

bool has_trajectory(const ResultReader& result) {
  const Variable* alpha = result.find(kLandscapeGroup, "trajectory_alpha");
  return alpha != nullptr && alpha->shape.size() == 1 && alpha->shape[0] >= 2;
}

LandscapeTrajectory read_trajectory(const ResultReader& result) {
  LandscapeTrajectory trajectory;
  if (!has_trajectory(result)) return trajectory;
  trajectory.alpha = result.read_doubles(kLandscapeGroup, "trajectory_alpha");
  trajectory.beta = result.read_doubles(kLandscapeGroup, "trajectory_beta");
  trajectory.residual = result.read_doubles(kLandscapeGroup, "trajectory_residual");
  trajectory.loss = result.read_doubles(kLandscapeGroup, "trajectory_loss");
  trajectory.steps = result.read_integers(kLandscapeGroup, "trajectory_step");
  // Results of earlier versions lack it.
  trajectory.runs = result.find(kLandscapeGroup, "trajectory_run") == nullptr
                        ? std::vector<std::int64_t>(trajectory.size(), 0)
                        : result.read_integers(kLandscapeGroup, "trajectory_run");
  const std::size_t size = trajectory.size();
  if (trajectory.runs.size() != size || trajectory.beta.size() != size ||
      trajectory.residual.size() != size || trajectory.loss.size() != size ||
      trajectory.steps.size() != size) {
    throw InputError(fmt::format("{}: variables /landscape/trajectory_* differ in their lengths",
                                 result.path().string()));
  }
  return trajectory;
}

std::filesystem::path trajectory_file(const ResultReader& result,
                                      const std::filesystem::path& output,
                                      const std::string& suffix) {
  std::filesystem::path file = output;
  file.replace_filename(output.stem().string() + suffix + output.extension().string());
  std::error_code none;
  if (std::filesystem::equivalent(result.path(), file, none)) {
    throw ConfigError(fmt::format(
        "{}: the trajectory would replace the result; name another output", file.string()));
  }
  return file;
}

std::vector<std::filesystem::path> write_landscape(const ResultReader& result,
                                                   const std::filesystem::path& output,
                                                   Existing existing,
                                                   const std::string& grid,
                                                   const std::string& trajectory) {
  if (trajectory.empty()) {
    write_whole(output, grid, existing);
    return {output};
  }
  const std::filesystem::path second = trajectory_file(result, output, kTrajectorySuffix);
  const WholeFile files[] = {{second, trajectory}, {output, grid}};
  write_whole(files, existing);
  return {output, second};
}

}  // namespace hesscope::io
