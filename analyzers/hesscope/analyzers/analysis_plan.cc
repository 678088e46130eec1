// SPDX-License-Identifier: BSD-3-Clause
//
// What a run will need, measured on a part of its work.
#include <algorithm>
#include <utility>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analysis_inputs.h>
#include <hesscope/analyzers/result_root.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/hessian_cost.h>

namespace hesscope {
namespace {

using detail::AnalysisInputs;
using detail::ChosenAnalyzer;
using Eigen::Index;

template <typename F>
double seconds_of(F work) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    work();
  }
  return seconds;
}

// Of `work` on all samples, from what it takes on at most `most` of them.
template <typename F>
double seconds_on_all(const Objective& objective, Index most, F work) {
  const SampleRange some = {0, std::min(objective.num_samples(), most)};
  return seconds_of([&] { work(some); }) * static_cast<double>(objective.num_samples()) /
         static_cast<double>(some.size());
}

// Of a run without a matrix: the two ends take about 100 products, found 4 at a time.
void foresee_products(const Objective& objective,
                      const Eigen::VectorXd& theta,
                      AnalysisPlan& plan) {
  constexpr Index kColumns = 4;
  constexpr double kNumCalls = 25;
  constexpr double kNumVectors = 512;  // of a search, at most
  const double seconds = seconds_on_all(objective, 256, [&](SampleRange some) {
    objective.hessian_times(theta, Eigen::MatrixXd::Ones(theta.size(), kColumns), some);
  });
  plan.seconds = kNumCalls * seconds;
  plan.peak_memory_bytes = objective.workspace_bytes() +
                           kNumVectors * static_cast<double>(theta.size()) * sizeof(double);
}

// What analyzers share when there is a matrix.
void foresee_matrices(const Objective& objective,
                      const Eigen::VectorXd& theta,
                      const Analyzer::Cost& own,
                      AnalysisPlan& plan) {
  const HessianCost cost = estimate_hessian_cost(objective, theta);
  const double n = static_cast<double>(theta.size());
  // Tridiagonalisation dominates the decomposition: 4/3 n^3 operations, half of them bound by
  // memory.
  constexpr double kEigenFlopsPerSecond = 5e9;
  const double eigen_seconds = 4.0 / 3.0 * n * n * n / kEigenFlopsPerSecond;
  // The decomposition, and storing the matrix, hold one copy of it.
  plan.seconds = (1 + own.hessians) * cost.seconds + (1 + own.decompositions) * eigen_seconds;
  plan.peak_memory_bytes = cost.memory_bytes + (1 + own.matrices) * n * n * sizeof(double);
}

// What follows each other adds up, what is held at once is the most that any needs.
Analyzer::Cost joint_cost(const std::vector<ChosenAnalyzer>& analyzers,
                          const Objective& objective) {
  Analyzer::Cost joint;
  for (const ChosenAnalyzer& chosen : analyzers) {
    const Analyzer::Cost own = chosen.analyzer->cost(objective);
    joint.matrices = std::max(joint.matrices, own.matrices);
    joint.numbers = std::max(joint.numbers, own.numbers);
    joint.hessians += own.hessians;
    joint.decompositions += own.decompositions;
    joint.sample_gradients += own.sample_gradients;
    joint.fresh_samples += own.fresh_samples;
    joint.operations += own.operations;
  }
  return joint;
}

// Gradients and what is made of them.
void foresee_gradients(const AnalysisInputs& inputs,
                       const Analyzer::Cost& own,
                       AnalysisPlan& plan) {
  const Objective& objective = inputs.problem.objective();
  const Eigen::VectorXd& theta = inputs.points.front();
  if (own.sample_gradients > 0) {
    plan.seconds += own.sample_gradients * seconds_on_all(objective, 256, [&](SampleRange some) {
                      objective.per_sample_gradients(theta, some);
                    });
  }
  if (const FreshSamples* fresh = inputs.problem.fresh_samples();
      fresh != nullptr && own.fresh_samples > 0) {
    constexpr Index kSome = 1024;
    const double seconds = seconds_of(
        [&] { fresh->value_and_gradient(theta, {.seed = 0, .first = 0, .count = kSome}); });
    plan.seconds += own.fresh_samples / kSome * seconds;
  }
  constexpr double kFlopsPerSecond = 2e9;  // additions of columns, one thread
  plan.seconds += own.operations / kFlopsPerSecond;
  plan.peak_memory_bytes += own.numbers * sizeof(double);
}

}  // namespace

AnalysisPlan plan_analysis(const AnalysisRequest& request) {
  const AnalysisInputs inputs = detail::open_inputs(request);
  const Objective& objective = inputs.problem.objective();
  AnalysisPlan plan;
  plan.model_kind = inputs.problem.model().kind;
  plan.num_checkpoints = inputs.checkpoints.size();
  plan.warnings = inputs.warnings;
  plan.num_parameters = objective.num_parameters();
  plan.num_samples = objective.num_samples();
  plan.is_done_already = request.overwrite == io::Overwrite::kNothing &&
                         detail::is_result_of(request.output, inputs.configuration(request));
  for (const ChosenAnalyzer& chosen : inputs.analyzers) {
    chosen.analyzer->dimensions(objective);  // refuses what a run would
    plan.analyzers.push_back(chosen.name);
  }
  plan.num_non_finite = static_cast<std::size_t>(
      std::count_if(inputs.points.begin(), inputs.points.end(), [](const Eigen::VectorXd& point) {
        return !point.allFinite();
      }));

  const Eigen::VectorXd& theta = inputs.points.front();
  const Analyzer::Cost own = joint_cost(inputs.analyzers, objective);
  if (PointAnalysis(objective, theta, {.method = request.method}).is_assembled()) {
    foresee_matrices(objective, theta, own, plan);
  } else {
    foresee_products(objective, theta, plan);
  }
  foresee_gradients(inputs, own, plan);
  plan.seconds *= static_cast<double>(plan.num_checkpoints);
  return plan;
}

}  // namespace hesscope
