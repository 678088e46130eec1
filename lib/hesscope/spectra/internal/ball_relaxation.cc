// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <hesscope/core/constants.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/internal/ball_relaxation.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool is_interval(const Ball& ball) { return ball.size() == 1; }

// X X^T for the rows x (cols k) matrix X whose columns are the part of V, k x n, in the ball.
MatrixXd gram(const Ball& ball, const MatrixXd& part, const MatrixXd& other) {
  MatrixXd sum = MatrixXd::Zero(ball.rows, ball.rows);
  for (Index j = 0; j < ball.cols; ++j) {
    sum.noalias() += part.middleCols(j * ball.rows, ball.rows).transpose() *
                     other.middleCols(j * ball.rows, ball.rows);
  }
  return sum;
}

// X <- A X for the same X.
void transform(const Ball& ball, const MatrixXd& a, MatrixXd& part) {
  for (Index j = 0; j < ball.cols; ++j) {
    part.middleCols(j * ball.rows, ball.rows) *= a.transpose();
  }
}

// V diag(f(lambda)) V^T for A = V diag(lambda) V^T, symmetric; NaN if A cannot be decomposed.
template <typename Function>
MatrixXd of_eigenvalues(const MatrixXd& a, const Function& f) {
  const std::optional<EigenDecomposition> found = a.allFinite() ? eigensystem(a) : std::nullopt;
  if (!found) return MatrixXd::Constant(a.rows(), a.cols(), kNaN);
  MatrixXd scaled = found->vectors;
  for (Index j = 0; j < scaled.cols(); ++j) scaled.col(j) *= f(found->values[j]);
  return scaled * found->vectors.transpose();
}

// X itself, and the inverse conversion.
MatrixXd as_matrix(const Ball& ball, const MatrixXd& part) {
  MatrixXd x(ball.rows, ball.cols * part.rows());
  for (Index j = 0; j < ball.cols; ++j) {
    x.middleCols(j * part.rows(), part.rows()) =
        part.middleCols(j * ball.rows, ball.rows).transpose();
  }
  return x;
}

void set_from_matrix(const Ball& ball, const MatrixXd& x, MatrixXd& part) {
  for (Index j = 0; j < ball.cols; ++j) {
    part.middleCols(j * ball.rows, ball.rows) =
        x.middleCols(j * part.rows(), part.rows()).transpose();
  }
}

// A unit vector orthogonal to the columns of `basis`, which are orthonormal and fewer than its
// rows: along `wanted` if that has an orthogonal part, else along the axis that is furthest from
// them.
VectorXd across(const MatrixXd& basis, const VectorXd& wanted) {
  constexpr double kLeast = 1e-3;
  VectorXd w = wanted - basis * (basis.transpose() * wanted);
  if (!(w.norm() > kLeast * std::max(1.0, wanted.norm()))) {
    Index axis = 0;
    basis.rowwise().squaredNorm().minCoeff(&axis);
    w = VectorXd::Unit(basis.rows(), axis) - basis * basis.row(axis).transpose();
  }
  w.normalize();
  w -= basis * (basis.transpose() * w);
  return w.normalized();
}

// U V^T of X = U S V^T, with as many singular vectors as X has rows: where singular values are zero
// within rounding, the vectors of U are paired with the components of `before` along them, as far
// as those are orthogonal to the rest.
MatrixXd whole_polar_factor(const MatrixXd& x, const MatrixXd& before) {
  constexpr double kZero = 1e-13;
  const SingularValues svd = hesscope::thin_svd(x);
  if (svd.status != Status::kOk) return MatrixXd::Constant(x.rows(), x.cols(), kNaN);
  MatrixXd right = svd.right;
  for (Index i = 0; i < x.rows(); ++i) {
    if (svd.values[i] > kZero * svd.values[0]) continue;
    right.col(i) = across(right.leftCols(i), before.transpose() * svd.left.col(i));
  }
  return svd.left * right.transpose();
}

// Replaces singular values s of X by min(1, s / shift), or by 1 if shift is not above 0. Zeros are
// kept, unless X is to follow a `before` and shift is not above 0; then as in whole_polar_factor().
void clip(const Ball& ball, double shift, MatrixXd& part, const MatrixXd* before = nullptr) {
  if (ball.rows == 1) {
    const double norm = part.norm();
    if (norm > 0) part /= std::max(norm, shift);
    return;
  }
  const double scale = part.cwiseAbs().maxCoeff();  // so that squares neither over- nor underflow
  if (!(scale > 0)) return;
  part /= scale;
  const auto factor = [&](double square) {
    const double s = std::sqrt(std::max(square, 0.0));
    return s > 0 ? 1 / std::max(s, shift / scale) : 0.0;
  };
  const MatrixXd squares = gram(ball, part, part);
  if (before != nullptr && !(shift > 0) && squares.allFinite()) {
    // Below this multiple of the largest, a computed eigenvalue may be rounding error.
    const double least =
        16 * static_cast<double>(ball.rows) * kEpsilon * squares.diagonal().maxCoeff();
    const std::optional<EigenDecomposition> found = eigensystem(squares);
    if (found && found->values[0] <= least) {
      const MatrixXd whole = whole_polar_factor(as_matrix(ball, part), as_matrix(ball, *before));
      return set_from_matrix(ball, whole, part);
    }
  }
  transform(ball, of_eigenvalues(squares, factor), part);
}

// The multiplier mu >= max(0, largest) of max sum_i lambda_i x_i^2 + 2 gamma_i x_i on |x| <= 1,
// with x_i = gamma_i / (mu - lambda_i): the root of |x| = 1, or the least mu if |x| is below 1
// there.
double multiplier(const VectorXd& lambda, const VectorXd& gamma) {
  const double least = std::max(0.0, lambda.maxCoeff());
  const auto norm_at = [&](double mu) {
    double squares = 0;
    for (Index i = 0; i < lambda.size(); ++i) {
      if (gamma[i] != 0) squares += std::pow(gamma[i] / (mu - lambda[i]), 2);
    }
    return std::sqrt(squares);
  };
  // NaN (0 / 0) cannot occur: terms without gamma are omitted; infinity is above 1.
  if (norm_at(least) <= 1) return least;
  double below = least;
  double above = least + gamma.norm();
  // |x| <= |gamma| / (mu - largest) = 1 there. Bisection combined with Newton's method for 1 / |x|,
  // which is nearly linear in mu.
  double mu = above;
  for (int i = 0; i < 200 && above - below > 2 * kEpsilon * above; ++i) {
    const double norm = norm_at(mu);
    (norm > 1 ? below : above) = mu;
    double slope = 0;  // of |x|^2, halved and negated
    for (Index k = 0; k < lambda.size(); ++k) {
      if (gamma[k] != 0) slope += gamma[k] * gamma[k] / std::pow(mu - lambda[k], 3);
    }
    const double next = mu + norm * norm / slope * (norm - 1);
    mu = next > below && next < above ? next : below + (above - below) / 2;
  }
  return above;
}

// The largest eigenvalue of a matrix, and its rounding band; NaN if it was not found.
struct LargestEigenvalue {
  double value = kNaN;
  double band = kNaN;
};

LargestEigenvalue largest_eigenvalue(const MatrixXd& a) {
  if (!a.allFinite()) return {};
  MatrixXd reduced = a;
  const std::optional<VectorXd> values = eigenvalues(tridiagonalize(reduced).t);
  if (!values) return {};
  const Index last = values->size() - 1;
  return {(*values)[last], rounding_band(a.rows(), values->cwiseAbs().maxCoeff())};
}

}  // namespace

std::vector<Ball> unit_intervals(Index n) {
  std::vector<Ball> balls(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) balls[static_cast<std::size_t>(j)].offset = j;
  return balls;
}

BallRelaxation::BallRelaxation(const MatrixXd& h, std::vector<Ball> balls)
    : h_(&h), balls_(std::move(balls)), own_(balls_.size()) {
  for (std::size_t b = 0; b < balls_.size(); ++b) {
    const Ball& ball = balls_[b];
    num_rows_ += static_cast<double>(ball.rows);
    if (is_interval(ball)) continue;
    const auto diagonal_block = h.block(ball.offset, ball.offset, ball.size(), ball.size());
    if (ball.rows > 1) {
      own_[b].smallest = dense_spectrum(diagonal_block).smallest.value;
      continue;
    }
    Eigensystem system = dense_eigensystem(diagonal_block);
    if (system.status != Status::kOk) {
      system.eigenvalues.setConstant(ball.size(), kNaN);
      system.eigenvectors.setConstant(ball.size(), ball.size(), kNaN);
    }
    own_[b].values = std::move(system.eigenvalues);
    own_[b].vectors = std::move(system.eigenvectors);
  }
}

Index BallRelaxation::rank() const {
  double constraints = 0;
  for (const Ball& ball : balls_) {
    constraints += static_cast<double>(ball.rows * (ball.rows + 1)) / 2;
  }
  constexpr Index kMost = 24;
  return std::min(kMost, static_cast<Index>(std::ceil(std::sqrt(2 * constraints))) + 1);
}

void BallRelaxation::normalize(MatrixXd& v) const {
  for (const Ball& ball : balls_) {
    MatrixXd part = v.middleCols(ball.offset, ball.size());
    clip(ball, 0, part);
    v.middleCols(ball.offset, ball.size()) = part;
  }
}

double BallRelaxation::value(const MatrixXd& v) const { return (v * *h_).cwiseProduct(v).sum(); }

// With the others fixed, the value is H_jj |v_j|^2 + 2 g^T v_j. Returns the gain.
double BallRelaxation::ascend_interval(Index j, MatrixXd& v) const {
  const double own = (*h_)(j, j);
  const VectorXd before = v.col(j);
  const VectorXd g = v * h_->col(j) - own * before;
  const double norm = g.size() == 1 ? std::abs(g[0]) : g.norm();
  if (own < -norm) {
    v.col(j) = -g / own;
  } else if (norm > 0) {
    v.col(j) = g / norm;
  } else {
    return 0;
  }
  return own * (v.col(j).squaredNorm() - before.squaredNorm()) + 2 * g.dot(v.col(j) - before);
}

void BallRelaxation::ascend_euclidean(const Ball& ball, const Own& own, MatrixXd& v) const {
  auto part = v.middleCols(ball.offset, ball.size());
  const MatrixXd along_before = part * own.vectors;
  MatrixXd x = v * h_->middleCols(ball.offset, ball.size()) * own.vectors -
               along_before * own.values.asDiagonal();
  VectorXd gamma = x.colwise().norm().transpose();
  const double scale = std::max(own.values.cwiseAbs().maxCoeff(), gamma.maxCoeff());
  // Rounding errors have no direction; for an isolated ball everything is rounding error.
  gamma = (gamma.array() > rounding_band(h_->rows(), scale)).select(gamma, 0.0);
  const double mu = multiplier(own.values, gamma);
  double squares = 0;
  for (Index i = 0; i < x.cols(); ++i) {
    if (gamma[i] == 0) {
      x.col(i).setZero();
    } else {
      x.col(i) /= mu - own.values[i];
    }
    squares += x.col(i).squaredNorm();
  }
  const Index last = x.cols() - 1;
  if (mu > 0 && squares < 1 && gamma[last] == 0) {  // as much of the largest as there is room for
    const double norm = along_before.col(last).norm();
    const double left = std::sqrt(1 - squares);
    if (norm > 0) {
      x.col(last) = along_before.col(last) * (left / norm);
    } else {
      x(0, last) = left;
    }
    squares = 1;
  }
  if (squares > 1) x /= std::sqrt(squares);  // rounding
  part = x * own.vectors.transpose();
}

// The value minus smallest |V_b|^2 is convex in V_b and therefore at least its linearisation at the
// present V_b; this gives a lower bound of the value. If smallest is positive, the bound is largest
// where all singular values are 1, even those that the linear part does not determine; |V_b| is
// then constant.
void BallRelaxation::ascend_matrix(const Ball& ball, const Own& own, MatrixXd& v) const {
  auto part = v.middleCols(ball.offset, ball.size());
  MatrixXd x = v * h_->middleCols(ball.offset, ball.size()) - own.smallest * part;
  if (!(x.cwiseAbs().maxCoeff() > 0)) return;
  const MatrixXd before = part;
  clip(ball, -own.smallest, x, &before);
  part = x;
}

double BallRelaxation::ascend(MatrixXd& v,
                              int max_sweeps,
                              double tolerance,
                              const ProgressCallback& progress) const {
  constexpr int kQuietSweeps = 3;  // a single sweep may gain little by chance
  double current = value(v);
  int num_quiet = 0;
  for (int sweep = 0; sweep < max_sweeps && num_quiet < kQuietSweeps; ++sweep) {
    report(progress, static_cast<double>(sweep) / max_sweeps);
    const double before = current;
    bool has_others = false;
    for (std::size_t b = 0; b < balls_.size(); ++b) {
      const Ball& ball = balls_[b];
      if (is_interval(ball)) {
        current += ascend_interval(ball.offset, v);
        continue;
      }
      has_others = true;
      if (ball.rows == 1) {
        ascend_euclidean(ball, own_[b], v);
      } else {
        ascend_matrix(ball, own_[b], v);
      }
    }
    if (has_others) current = value(v);
    num_quiet = current - before > tolerance * std::abs(current) ? 0 : num_quiet + 1;
  }
  return value(v);
}

BallRelaxation::Bound BallRelaxation::upper_bound(const MatrixXd& v) const {
  const MatrixXd products = v * *h_;
  MatrixXd difference = *h_;  // H - Y
  Bound bound;
  bound.traces.resize(static_cast<Index>(balls_.size()));
  for (std::size_t b = 0; b < balls_.size(); ++b) {
    const Ball& ball = balls_[b];
    const auto g = products.middleCols(ball.offset, ball.size());
    const auto x = v.middleCols(ball.offset, ball.size());
    MatrixXd y(1, 1);
    if (ball.rows == 1) {
      y(0, 0) = std::max(0.0, g.cwiseProduct(x).sum());
    } else {
      const MatrixXd product = gram(ball, g, x);
      y = of_eigenvalues((product + product.transpose()) / 2,
                         [](double value) { return std::max(value, 0.0); });
      y = ((y + y.transpose()) / 2).eval();
    }
    bound.traces[static_cast<Index>(b)] = y.trace();
    for (Index j = 0; j < ball.cols; ++j) {
      const Index first = ball.offset + j * ball.rows;
      difference.block(first, first, ball.rows, ball.rows) -= y;
    }
  }
  const LargestEigenvalue largest = largest_eigenvalue(difference);
  const double trace = bound.traces.sum();
  // Entries of the difference are rounded, too: by less than the band of its terms.
  const double band = 2 * largest.band;
  bound.upper = (trace + std::max(0.0, largest.value + band) * num_rows_) *
                (1 + static_cast<double>(h_->rows() + 10) * kEpsilon);
  if (std::isnan(largest.value)) bound.upper = kNaN;
  bound.rounding =
      2 * band * num_rows_ + static_cast<double>(h_->rows() + 10) * kEpsilon * bound.upper;
  return bound;
}

}  // namespace hesscope::detail
