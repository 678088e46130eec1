// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/objective/hessian_cost.h>
#include <hesscope/objective/internal/sample_probe.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/distributed_cost.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// A search for both ends of a spectrum applies its operator to 4 columns at once, and to some 80
// columns one by one, and makes as many vectors orthogonal to each other.
constexpr double kSingleColumns = 80;
constexpr double kVectorsOfSearch = 512;  // held, at most

// Additions and multiplications of columns in memory, on one thread.
constexpr double kOperationsPerSecond = 2e9;

// Seconds for the parts of an analysis; 0 for parts that this one does not need.
struct Rates {
  double gradient = 0;
  double hessian = 0;
  double gauss_newton = 0;
  double decomposition = 0;
  double column = 0;        // of a product of H with one vector
  double block_column = 0;  // of a product of H with many vectors at once, each
  double sample_gradients = 0;
  double fresh_sample = 0;
};

bool is_assembled(const ForeseenAnalysis& analysis) {
  return PointAnalysis(*analysis.objective, *analysis.theta, {.method = analysis.method})
      .is_assembled();
}

// Whether all eigenvalues are found, of a matrix on one process or on several.
bool has_spectrum(const ForeseenAnalysis& analysis) {
  return is_assembled(analysis) || analysis.method == SpectrumMethod::kDistributed;
}

// Costs that follow each other add up; for memory held at once, the largest counts.
Analyzer::Cost joint_cost(const ForeseenAnalysis& analysis) {
  Analyzer::Cost joint;
  for (const ChosenAnalyzer& chosen : analysis.analyzers) {
    const Analyzer::Cost own = chosen.analyzer->cost(*analysis.objective);
    joint.asks_hessian = joint.asks_hessian || own.asks_hessian;
    joint.asks_spectrum = joint.asks_spectrum || own.asks_spectrum;
    joint.matrices = std::max(joint.matrices, own.matrices);
    joint.numbers = std::max(joint.numbers, own.numbers);
    joint.hessians += own.hessians;
    joint.gauss_newtons += own.gauss_newtons;
    joint.decompositions += own.decompositions;
    joint.searches += own.searches;
    joint.products += own.products;
    joint.gradients += own.gradients;
    joint.sample_gradients += own.sample_gradients;
    joint.fresh_samples += own.fresh_samples;
  }
  return joint;
}

double search_seconds(const ForeseenAnalysis& analysis, const Rates& rates) {
  const auto n = static_cast<double>(analysis.objective->num_parameters());
  const double operations = 2 * n * kSingleColumns * kSingleColumns;
  return kSingleColumns * rates.column + 4 * rates.block_column + operations / kOperationsPerSecond;
}

AnalysisCosts costs_at(const ForeseenAnalysis& analysis, const Rates& rates) {
  const bool has_matrix = is_assembled(analysis);
  const bool has_all = has_spectrum(analysis);
  const double search = search_seconds(analysis, rates);
  const Analyzer::Cost joint = joint_cost(analysis);
  AnalysisCosts costs;
  costs.gradient = rates.gradient;
  costs.point.hessian = has_all && joint.asks_hessian ? rates.hessian : 0;
  costs.point.spectrum = !joint.asks_spectrum ? 0 : has_all ? rates.decomposition : search;
  costs.point.own = 0;
  costs.point.gauss_newton = rates.gauss_newton;
  costs.point.decomposition = rates.decomposition;
  for (const ChosenAnalyzer& chosen : analysis.analyzers) {
    const Analyzer::Cost own = chosen.analyzer->cost(*analysis.objective);
    double seconds = own.gradients * rates.gradient +
                     own.sample_gradients * rates.sample_gradients +
                     own.fresh_samples * rates.fresh_sample + own.operations / kOperationsPerSecond;
    if (has_matrix) {
      seconds += own.hessians * rates.hessian + own.gauss_newtons * rates.gauss_newton +
                 own.decompositions * rates.decomposition +
                 own.matrix_operations / kOperationsPerSecond;
    } else {
      seconds += own.searches * search + own.products * rates.block_column;
    }
    costs.own.push_back(seconds);
    costs.point.own += seconds;
  }
  return costs;
}

// Seconds that `work` takes on all samples.
template <typename Work>
double seconds_of(const Objective& objective, SecondsClock clock, Work work) {
  constexpr double kEnoughSeconds = 0.02;
  return seconds_on_all(objective, clock, kEnoughSeconds, work);
}

Rates measured_rates(const ForeseenAnalysis& analysis, SecondsClock clock) {
  const Objective& objective = *analysis.objective;
  const Eigen::VectorXd& theta = *analysis.theta;
  const Analyzer::Cost joint = joint_cost(analysis);
  const Index n = theta.size();
  Rates rates;
  rates.gradient = seconds_of(
      objective, clock, [&](SampleRange some) { objective.value_and_gradient(theta, some); });
  if (is_assembled(analysis)) {
    if (joint.asks_hessian || joint.hessians > 0) {
      rates.hessian = estimate_hessian_cost(objective, theta, clock).seconds;
    }
    if (joint.gauss_newtons > 0) {
      rates.gauss_newton = estimate_gauss_newton_seconds(objective, theta, clock);
    }
    if (joint.asks_spectrum || joint.decompositions > 0) {
      rates.decomposition = estimate_decomposition_seconds(n, clock);
    }
  } else if (analysis.method == SpectrumMethod::kDistributed && joint.asks_spectrum) {
    const DistributedCost cost =
        estimate_distributed_cost(objective,
                                  theta,
                                  analysis.num_ranks,
                                  analysis.grid,
                                  need_full_proof(analysis.analyzers, analysis.method),
                                  clock);
    rates.hessian = cost.fill_seconds;
    rates.decomposition = cost.spectrum_seconds;
  }
  const bool searches = !has_spectrum(analysis) && joint.asks_spectrum;
  if (!is_assembled(analysis) && (searches || joint.searches > 0 || joint.products > 0)) {
    constexpr Index kColumns = 4;
    const MatrixXd some_directions = MatrixXd::Ones(n, kColumns);
    rates.column = seconds_of(objective, clock, [&](SampleRange some) {
      objective.hessian_times(theta, some_directions.leftCols(1), some);
    });
    rates.block_column = seconds_of(objective,
                                    clock,
                                    [&](SampleRange some) {
                                      objective.hessian_times(theta, some_directions, some);
                                    }) /
                         static_cast<double>(kColumns);
  }
  if (joint.sample_gradients > 0) {
    rates.sample_gradients = seconds_of(objective, clock, [&](SampleRange some) {
      constexpr Index kAtOnce = 256;  // so that few are held at a time
      for (Index first = 0; first < some.size(); first += kAtOnce) {
        objective.per_sample_gradients(theta, {first, std::min(first + kAtOnce, some.size())});
      }
    });
  }
  if (analysis.fresh_samples != nullptr && joint.fresh_samples > 0) {
    constexpr Index kSome = 1024;
    const double start = clock();
    analysis.fresh_samples->value_and_gradient(theta, {.seed = 0, .first = 0, .count = kSome});
    rates.fresh_sample = (clock() - start) / static_cast<double>(kSome);
  }
  return rates;
}

}  // namespace

const Eigen::VectorXd& some_finite(std::span<const Eigen::VectorXd> points) {
  const auto found = std::find_if(
      points.begin(), points.end(), [](const Eigen::VectorXd& point) { return point.allFinite(); });
  return found != points.end() ? *found : points.front();
}

AnalysisCosts measured_costs(const ForeseenAnalysis& analysis, SecondsClock clock) {
  AnalysisCosts costs = costs_at(analysis, measured_rates(analysis, clock));
  const Analyzer::Cost joint = joint_cost(analysis);
  const auto n = static_cast<double>(analysis.objective->num_parameters());
  // With a matrix: the matrix, one copy that is decomposed or stored, and what analyzers add.
  double numbers = is_assembled(analysis)
                       ? (joint.asks_hessian ? 2 + joint.matrices : joint.matrices) * n * n
                       : kVectorsOfSearch * n;
  if (analysis.method == SpectrumMethod::kDistributed && joint.asks_spectrum) {
    numbers += distributed_bytes(analysis.objective->num_parameters(),
                                 analysis.num_ranks,
                                 analysis.grid,
                                 need_full_proof(analysis.analyzers, analysis.method)) /
               sizeof(double);
  }
  costs.memory_bytes =
      analysis.objective->workspace_bytes() + (numbers + joint.numbers) * sizeof(double);
  return costs;
}

namespace {

Rates guessed_rates(const ForeseenAnalysis& analysis) {
  const auto n = static_cast<double>(analysis.objective->num_parameters());
  const auto samples = static_cast<double>(analysis.objective->num_samples());
  constexpr double kSecondsPerParameter = 1e-8;  // for the gradient of one sample
  Rates rates;
  rates.gradient = kSecondsPerParameter * n * samples;
  rates.hessian = rates.gauss_newton = 0.1 * n * rates.gradient;
  rates.decomposition = 1e-10 * n * n * n + 1e-7 * n * n;
  rates.column = 3 * rates.gradient;
  rates.block_column = rates.gradient;
  rates.sample_gradients = rates.gradient;
  rates.fresh_sample = 2 * kSecondsPerParameter * n;
  return rates;
}

}  // namespace

AnalysisCosts guessed_costs(const ForeseenAnalysis& analysis) {
  return costs_at(analysis, guessed_rates(analysis));
}

AnalysisCosts costs_for_progress(const ForeseenAnalysis& analysis, std::size_t num_points) {
  constexpr double kBriefSeconds = 5;
  const auto is_brief = [&](const AnalysisCosts& costs) {
    return costs.seconds() * static_cast<double>(num_points) < kBriefSeconds;
  };
  Rates rates = guessed_rates(analysis);
  AnalysisCosts costs = costs_at(analysis, rates);
  if (is_brief(costs)) return costs;
  if (costs.point.hessian > 0) {  // a model's structure may make it far less than the guess
    constexpr double kPatience = 0.01;
    rates.hessian =
        estimate_hessian_cost(*analysis.objective, *analysis.theta, wall_seconds, kPatience)
            .seconds;
    costs = costs_at(analysis, rates);
    if (is_brief(costs)) return costs;
  }
  return measured_costs(analysis);
}

}  // namespace hesscope::detail
