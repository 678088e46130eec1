// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/quadrature_calibration.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/lanczos_quadrature.h>

namespace hesscope {
namespace {

using detail::ProbeRule;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_options(const QuadratureOptions& options, Index n) {
  const auto require_positive = [](const char* name, Index value) {
    if (value < 1) {
      throw PreconditionError(
          fmt::format("lanczos_quadrature: {} must be positive, got {}", name, value));
    }
  };
  if (n == 0) throw PreconditionError("lanczos_quadrature: the operator has no rows");
  require_positive("num_probes", options.num_probes);
  require_positive("num_steps", options.num_steps);
  if (options.num_threads < 0) {
    throw PreconditionError("lanczos_quadrature: num_threads must not be negative");
  }
}

// Unit columns.
MatrixXd probes(Index n, const QuadratureOptions& options) {
  if (options.num_probes >= n) return MatrixXd::Identity(n, n);
  std::mt19937_64 engine(options.seed);
  MatrixXd v = options.entries == ProbeEntries::kGaussian
                   ? detail::standard_normal(n, options.num_probes, engine)
                   : MatrixXd::NullaryExpr(n, options.num_probes, [&engine] {
                       return (engine() >> 63) == 0 ? 1.0 : -1.0;
                     });
  v.colwise().normalize();
  return v;
}

// The Lanczos method from one vector, step by step.
class Lanczos {
 public:
  Lanczos(const Eigen::Ref<const VectorXd>& start, Index max_steps)
      : basis_(start.size(), max_steps), diagonal_(max_steps), off_diagonal_(max_steps) {
    basis_.col(0) = start;
  }

  bool is_done() const { return is_done_; }

  Index num_steps() const { return num_steps_; }

  // The vector whose product with H the next step needs.
  auto last() const { return basis_.col(num_steps_); }

  void step(VectorXd w) {
    const Index k = num_steps_++;
    norm_ = std::max(norm_, detail::norm(w));
    const auto v = basis_.leftCols(k + 1);
    for (int pass = 0; pass < 2; ++pass) {
      const VectorXd within = v.transpose() * w;
      if (pass == 0) diagonal_[k] = within[k];
      w -= v * within;
    }
    off_diagonal_[k] = detail::norm(w);
    const bool is_invariant = off_diagonal_[k] <= detail::rounding_band(w.size(), norm_);
    is_done_ = is_invariant || num_steps_ == diagonal_.size();
    if (!is_done_) basis_.col(num_steps_) = w / off_diagonal_[k];
  }

  // The rule for 2^-exponent H; nothing if the eigenvalues of T did not converge. Leaves *this
  // empty.
  std::optional<ProbeRule> take_rule(int exponent) {
    const Index m = num_steps_;
    const double remainder = off_diagonal_[m - 1];
    std::optional<detail::EigenDecomposition> found = detail::eigensystem(
        detail::Tridiagonal{detail::scaled_back(diagonal_.head(m), -exponent),
                            detail::scaled_back(off_diagonal_.head(m - 1), -exponent)});
    if (!found || !found->values.allFinite() || !found->vectors.allFinite()) return std::nullopt;
    return ProbeRule{std::move(basis_),
                     std::move(found->values),
                     std::move(found->vectors),
                     std::ldexp(remainder, -exponent)};
  }

  // A lower bound of ||H||_2.
  double norm() const { return norm_; }

  bool is_finite() const {
    return std::isfinite(norm_) && diagonal_.head(num_steps_).allFinite() &&
           off_diagonal_.head(num_steps_).allFinite();
  }

 private:
  MatrixXd basis_;         // n x max_steps; num_steps + 1 columns are set until done
  VectorXd diagonal_;      // of T
  VectorXd off_diagonal_;  // off_diagonal_[k] = ||w|| of step k
  Index num_steps_ = 0;
  double norm_ = 0.0;  // the largest ||H v|| so far
  bool is_done_ = false;
};

// Advances all runs by one step with one product; false if that has a NaN or an infinity.
bool step(const SymmetricOperator& h, std::vector<Lanczos>& runs, const Executor& executor) {
  std::vector<std::size_t> active;
  for (std::size_t j = 0; j < runs.size(); ++j) {
    if (!runs[j].is_done()) active.push_back(j);
  }
  MatrixXd v(h.rows(), static_cast<Index>(active.size()));
  for (Index i = 0; i < v.cols(); ++i) v.col(i) = runs[active[static_cast<std::size_t>(i)]].last();
  const MatrixXd hv = h.apply(v);
  if (!hv.allFinite()) return false;
  executor.for_each(v.cols(),
                    [&](Index i) { runs[active[static_cast<std::size_t>(i)]].step(hv.col(i)); });
  return true;
}

// The mean over all probes of sum weights f(node), for each column of `weights`.
ProbeEstimate mean(const MatrixXd& values, const MatrixXd& weights, bool is_basis) {
  const Index num_probes = values.cols();
  const VectorXd of_probe =
      (weights.array() > 0.0).select(values.cwiseProduct(weights), 0.0).colwise().sum();
  ProbeEstimate estimate;
  estimate.value = of_probe.mean();
  if (is_basis) {
    estimate.standard_error = 0.0;
  } else if (num_probes > 1) {
    const auto q = static_cast<double>(num_probes);
    const double sum = (of_probe.array() - estimate.value).square().sum();
    estimate.standard_error = std::sqrt(sum / (q * (q - 1.0)));
  }
  return estimate;
}

// 2^exponent factor times an estimate; empty if it overflows.
ProbeEstimate scaled(ProbeEstimate estimate, double factor, int exponent) {
  const double value = std::ldexp(factor * estimate.value, exponent);
  if (!std::isfinite(value)) return {};
  return {value, std::ldexp(factor * estimate.standard_error, exponent)};
}

SpectralMeasure mean_measure(const MatrixXd& nodes, const MatrixXd& weights) {
  std::vector<Index> order;
  for (Index i = 0; i < nodes.size(); ++i) {
    if (weights.reshaped()[i] > 0.0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&nodes](Index a, Index b) {
    return nodes.reshaped()[a] < nodes.reshaped()[b];
  });
  return {nodes.reshaped()(order), weights.reshaped()(order) / static_cast<double>(nodes.cols())};
}

void assign_rules(const std::vector<ProbeRule>& rules,
                  const std::vector<VectorXd>& calibrated,
                  LanczosQuadrature& result) {
  Index num_rows = 0;
  for (const ProbeRule& rule : rules) num_rows = std::max(num_rows, rule.nodes.size());
  const auto num_probes = static_cast<Index>(rules.size());
  result.nodes.setConstant(num_rows, num_probes, kNaN);
  result.weights.setZero(num_rows, num_probes);
  result.calibrated_weights.setZero(num_rows, num_probes);
  for (Index j = 0; j < num_probes; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Index m = rules[at].nodes.size();
    result.nodes.col(j).head(m) = rules[at].nodes;
    result.weights.col(j).head(m) = rules[at].weights();
    result.calibrated_weights.col(j).head(m) = calibrated[at];
  }
}

Status compute(const SymmetricOperator& h,
               const QuadratureOptions& options,
               const ProgressCallback& progress,
               LanczosQuadrature& result) {
  const Index n = h.rows();
  const Index max_steps = std::min(n, options.num_steps);
  std::vector<Lanczos> runs;
  {
    const MatrixXd v = probes(n, options);
    for (Index j = 0; j < v.cols(); ++j) runs.emplace_back(v.col(j), max_steps);
  }
  const Executor executor(options.num_threads);
  const auto is_active = [](const Lanczos& run) { return !run.is_done(); };
  while (std::any_of(runs.begin(), runs.end(), is_active)) {
    ++result.num_calls;
    result.num_columns += std::count_if(runs.begin(), runs.end(), is_active);
    if (!step(h, runs, executor)) return Status::kNonFinite;
    detail::report(progress,
                   static_cast<double>(result.num_calls) / static_cast<double>(max_steps));
  }

  double norm = 0.0;
  for (const Lanczos& run : runs) {
    if (!run.is_finite()) return Status::kNonFinite;
    norm = std::max(norm, run.norm());
  }
  const int exponent = norm > 0.0 ? std::ilogb(norm) : 0;
  std::vector<ProbeRule> rules;
  const detail::SingleThreadedBlas one_thread;
  for (Lanczos& run : runs) {
    std::optional<ProbeRule> rule = run.take_rule(exponent);
    if (!rule) return Status::kFailed;
    rules.push_back(std::move(*rule));
  }

  const bool is_basis = options.num_probes >= n;
  detail::Calibration calibration;
  if (!is_basis && options.entries == ProbeEntries::kGaussian) {
    calibration = detail::calibrate(rules);
  } else {
    for (const ProbeRule& rule : rules) calibration.weights.push_back(rule.weights());
  }
  assign_rules(rules, calibration.weights, result);
  result.num_counted = calibration.num_counted;
  const auto rows = static_cast<double>(n);
  const MatrixXd& weights = result.calibrated_weights;
  result.trace = scaled(mean(result.nodes, weights, is_basis), rows, exponent);
  result.squared_frobenius_norm =
      scaled(mean(result.nodes.cwiseAbs2(), weights, is_basis), rows, 2 * exponent);
  result.nodes =
      result.nodes.unaryExpr([exponent](double node) { return std::ldexp(node, exponent); });
  result.measure = mean_measure(result.nodes, weights);
  return result.measure.nodes.allFinite() ? Status::kOk : Status::kNonFinite;
}

}  // namespace

LanczosQuadrature lanczos_quadrature(const SymmetricOperator& h,
                                     const QuadratureOptions& options,
                                     const ProgressCallback& progress) {
  require_options(options, h.rows());
  LanczosQuadrature result;
  const Status status = compute(h, options, progress, result);
  if (status == Status::kOk) {
    result.status = status;
    return result;
  }
  LanczosQuadrature nothing;
  nothing.status = status;
  nothing.num_calls = result.num_calls;
  nothing.num_columns = result.num_columns;
  return nothing;
}

}  // namespace hesscope
