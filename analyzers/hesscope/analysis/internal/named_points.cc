// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/named_points.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

PointSubject::PointSubject(const Objective& objective) : objective_(&objective) {
  require_objective(objective);
  described = subject_of(objective);
  if (const auto* graph = dynamic_cast<const GraphObjective*>(&objective)) {
    described.name = fmt::format("a {} model", graph->model().kind);
    model_samples = {&graph->model(), &graph->samples()};
  }
}

PointSubject::PointSubject(const Problem& problem)
    : described(subject_of(problem)),
      model_samples(ModelSamples{&problem.model(), &problem.samples()}),
      fresh_samples(problem.fresh_samples()),
      objective_(&problem.objective()) {}

namespace {

// Which of the settings no optimiser can have; empty if there is none.
std::string flaw_of(const OptimizerSettings& group) {
  const auto is_from_0 = [](double x) { return x >= 0 && std::isfinite(x); };
  const auto is_share = [](double x) { return x >= 0 && x < 1; };
  if (!is_from_0(group.learning_rate.value_or(0))) {
    return "learning rate is not from 0 on, and finite";
  }
  if (!is_share(group.beta1.value_or(0))) return "beta1 is not from 0 to below 1";
  if (!is_share(group.beta2.value_or(0))) return "beta2 is not from 0 to below 1";
  if (!is_from_0(group.epsilon.value_or(0))) return "epsilon is not from 0 on, and finite";
  if (!is_from_0(group.momentum.value_or(0))) return "momentum is not from 0 on, and finite";
  return {};
}

}  // namespace

void require_points(const std::string& function,
                    const Objective& objective,
                    const std::vector<NamedPoint>& points) {
  if (points.empty()) throw PreconditionError(function + ": no points");
  const Eigen::Index n = objective.num_parameters();
  std::set<std::string> names;
  for (const NamedPoint& point : points) {
    const auto refuse = [&](const std::string& why) {
      throw PreconditionError(
          fmt::format("{}: point '{}' {}", function, printable(point.name), why));
    };
    if (point.name.empty()) throw PreconditionError(function + ": a point has no name");
    if (point.name.find('\0') != std::string::npos) refuse("has a zero byte in its name");
    if (!is_utf8(point.name)) refuse("has a name that is not UTF-8, as results need it");
    if (!names.insert(point.name).second) refuse("has the name of another point");
    if (point.theta.size() != n) {
      refuse(fmt::format("must have {} parameters, got {}", n, point.theta.size()));
    }
    const OptimizerState& optimizer = point.optimizer;
    for (const OptimizerSettings& group : optimizer.groups) {
      const std::string flaw = flaw_of(group);
      if (!flaw.empty()) refuse("has an optimiser whose " + flaw);
    }
    const bool are_steps = std::ranges::all_of(
        optimizer.blocks, [](const auto& block) { return block.step.value_or(1) >= 1; });
    if (!are_steps) refuse("has an optimiser of less than one step");
    const Eigen::VectorXd& moments = optimizer.second_moments;
    if (moments.size() == 0) continue;
    if (moments.size() != n || !moments.allFinite() || (moments.array() < 0).any()) {
      refuse(fmt::format("must have {} second moments, finite and at least 0", n));
    }
    const bool are_blocks = std::ranges::all_of(optimizer.blocks, [&](const auto& block) {
      return !block.group || *block.group < optimizer.groups.size();
    });
    if (!are_blocks || optimizer.blocks.size() != objective.parameter_blocks().size()) {
      refuse("must say of each parameter block in which group of its optimiser it is");
    }
  }
}

std::vector<CheckpointFile> files_of(const std::vector<NamedPoint>& points) {
  std::vector<CheckpointFile> files;
  for (const NamedPoint& point : points) files.push_back({point.name, point.step});
  return files;
}

std::vector<std::string> digests_of(const std::vector<NamedPoint>& points) {
  std::vector<std::string> digests;
  for (const NamedPoint& point : points) {
    digests.push_back(
        io::sha256_of_numbers({point.theta.data(), static_cast<std::size_t>(point.theta.size())}));
  }
  return digests;
}

CheckpointDefinitions definitions_of_points() {
  return {.step = "of the training run that the point is of, as given to the library",
          .file = "name of the point, as given to the library",
          .sha256 =
              "hexadecimal digest of the parameters: 64-bit floats, low bytes first, one "
              "after the other"};
}

io::RunConfiguration configuration_of_points(const ResultSubject& subject,
                                             const std::vector<NamedPoint>& points,
                                             const std::vector<std::string>& digests) {
  io::RunConfiguration all = program_configuration();
  all.emplace_back("problem", subject.problem);
  all.emplace_back("data_sha256", subject.data_sha256);
  if (!subject.model_sha256.empty()) all.emplace_back("model_sha256", subject.model_sha256);
  for (std::size_t i = 0; i < points.size(); ++i) {
    all.emplace_back(fmt::format("point {}", i + 1), points[i].name);
    all.emplace_back(fmt::format("sha256 of {}", points[i].name), digests[i]);
  }
  return all;
}

}  // namespace hesscope::detail
