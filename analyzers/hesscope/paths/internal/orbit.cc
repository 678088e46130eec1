// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/positive_definite.h>
#include <hesscope/paths/internal/orbit.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// For a map with norm at most 1, 22 terms of the series leave an error of 1 / 23! = 4e-23.
constexpr int kTerms = 22;
// Steps along a map with a larger norm are rejected.
constexpr double kLargestNorm = 64;
constexpr int kMaxFlowSteps = 500;
constexpr double kFirstDamping = 1e-6;  // relative to the largest square of a generator
constexpr double kLeastDamping = 1e-12;
constexpr double kLargestDamping = 1e12;
// Slopes that are smaller, relative to generators and residual, are rounding.
constexpr double kLeastSlope = 1e-14;

// A sparse matrix: by rows, terms that add up to its entries.
class SparseRows {
 public:
  struct Term {
    Index col;
    double value;
  };

  explicit SparseRows(Index rows) : rows_(static_cast<std::size_t>(rows)) {}

  void add(Index row, Index col, double value) {
    rows_[static_cast<std::size_t>(row)].push_back({col, value});
  }

  // this^T other, for matrices with `cols` columns.
  MatrixXd transposed_times(const SparseRows& other, Index cols) const {
    MatrixXd product = MatrixXd::Zero(cols, cols);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const Term& b : other.rows_[row]) {
        for (const Term& a : rows_[row]) product(a.col, b.col) += a.value * b.value;
      }
    }
    return product;
  }

  VectorXd transposed_times(const VectorXd& x, Index cols) const {
    VectorXd product = VectorXd::Zero(cols);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const Term& a : rows_[row]) product[a.col] += a.value * x[static_cast<Index>(row)];
    }
    return product;
  }

 private:
  std::vector<std::vector<Term>> rows_;
};

// sum_k t_k (B_k, b_k).
struct Combined {
  std::vector<AffineGenerator::Linear> linear;
  VectorXd constant;
  double norm = 0;  // largest row sum of |entries|

  VectorXd times(const VectorXd& x) const {
    VectorXd result = VectorXd::Zero(x.size());
    for (const auto& [row, col, value] : linear) result[row] += value * x[col];
    return result;
  }
};

Combined combined(std::span<const AffineGenerator> generators,
                  const Eigen::Ref<const VectorXd>& times,
                  Index size) {
  Combined all{.linear = {}, .constant = VectorXd::Zero(size)};
  VectorXd rows = VectorXd::Zero(size);
  for (std::size_t k = 0; k < generators.size(); ++k) {
    const double t = times[static_cast<Index>(k)];
    if (t == 0) continue;
    for (const auto& [row, col, value] : generators[k].linear) {
      all.linear.push_back({row, col, t * value});
      rows[row] += std::abs(t * value);
    }
    for (const auto& [row, value] : generators[k].constant) all.constant[row] += t * value;
  }
  all.norm = size > 0 ? rows.maxCoeff() : 0;
  return all;
}

}  // namespace

VectorXd flowed(std::span<const AffineGenerator> generators,
                const Eigen::Ref<const VectorXd>& times,
                VectorXd theta) {
  const Combined map = combined(generators, times, theta.size());
  if (!(map.norm <= kLargestNorm)) return VectorXd::Constant(theta.size(), kNaN);
  const int parts = std::max(1, static_cast<int>(std::ceil(map.norm)));
  const double h = 1.0 / parts;
  for (int part = 0; part < parts; ++part) {
    // theta + h u + h^2/2 B u + ... with u = B theta + b.
    VectorXd term = h * (map.times(theta) + map.constant);
    for (int j = 1; j <= kTerms; ++j) {
      theta += term;
      term = h / (j + 1) * map.times(term);
    }
  }
  return theta;
}

VectorXd nearest_on_orbit(std::span<const AffineGenerator> generators,
                          const Eigen::Ref<const VectorXd>& reference,
                          VectorXd theta,
                          const ProgressCallback& progress) {
  if (generators.empty()) return theta;
  const auto count = static_cast<Index>(generators.size());
  double distance = detail::norm(reference - theta);
  double damping = kFirstDamping;
  MatrixXd curvature(count, count);
  VectorXd slopes(count);
  double scale = 0;
  bool is_new = true;
  for (int step = 0; step < kMaxFlowSteps && distance > 0; ++step) {
    report(progress, static_cast<double>(step) / kMaxFlowSteps);
    if (is_new) {
      // For each generator, u = B theta + b and B^T residual, which have few non-zero entries: a
      // rescaling touches one unit, and there may be a thousand units.
      const VectorXd residual = reference - theta;
      SparseRows directions(theta.size());
      SparseRows pulled(theta.size());
      for (Index k = 0; k < count; ++k) {
        const AffineGenerator& generator = generators[static_cast<std::size_t>(k)];
        for (const auto& [row, col, value] : generator.linear) {
          directions.add(row, k, value * theta[col]);
          pulled.add(col, k, value * residual[row]);
        }
        for (const auto& [row, value] : generator.constant) directions.add(row, k, value);
      }
      curvature = directions.transposed_times(directions, count);
      scale = std::max(curvature.diagonal().maxCoeff(), std::numeric_limits<double>::min());
      const MatrixXd bent = pulled.transposed_times(directions, count);
      curvature -= (bent + bent.transpose()) / 2;
      slopes = directions.transposed_times(residual, count);
      if (slopes.cwiseAbs().maxCoeff() <= kLeastSlope * std::sqrt(scale) * distance) break;
    }
    // Dependent generators have many solutions; damping all equally selects the shortest.
    MatrixXd damped = curvature;
    damped.diagonal().array() += damping * scale;
    const std::optional<VectorXd> step_taken = solve_positive_definite(damped, slopes);
    const VectorXd trial = step_taken ? flowed(generators, *step_taken, theta)
                                      : VectorXd::Constant(theta.size(), kNaN).eval();
    const double after = detail::norm(reference - trial);
    is_new = after < distance;
    if (is_new) {
      theta = trial;
      distance = after;
      damping = std::max(damping / 8, kLeastDamping);
    } else {
      damping *= 8;
      if (damping > kLargestDamping) break;
    }
  }
  return theta;
}

}  // namespace hesscope::detail
