// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/landscape/plane.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Householder's reflection I - tau v v^T with v = (1, tail), which maps x to (image, 0, ..., 0).
struct Reflection {
  VectorXd tail;
  double tau = 0;
  double image;

  explicit Reflection(const Eigen::Ref<const VectorXd>& x)
      : tail(x.tail(x.size() - 1)), image(x[0]) {
    const double rest = tail.squaredNorm();
    if (rest <= std::numeric_limits<double>::min()) return;  // x is already its image
    const double length = std::sqrt(x[0] * x[0] + rest);
    image = x[0] >= 0 ? -length : length;
    tail /= x[0] - image;
    tau = (image - x[0]) / image;
  }

  void apply(Eigen::Ref<VectorXd> x) const {
    if (tau == 0) return;
    const double along = x[0] + tail.dot(x.tail(tail.size()));
    x[0] -= tau * along;
    x.tail(tail.size()) -= along * (tau * tail);
  }

  void apply_to_columns(Eigen::Ref<MatrixXd> x) const {
    if (tau == 0) return;
    const Eigen::RowVectorXd along = tail.transpose() * x.bottomRows(tail.size()) + x.row(0);
    x.row(0) -= tau * along;
    for (Index j = 0; j < x.cols(); ++j) x.col(j).tail(tail.size()) -= along[j] * (tau * tail);
  }
};

// The directions divided by their lengths: units = H_0 H_1 R with reflections H_k that keep the
// first k coordinates, and R upper triangular. For one or two columns, this replaces Eigen's QR,
// which takes 15 s to compile.
struct Factors {
  VectorXd norms;
  MatrixXd units;
  MatrixXd r;
  std::vector<Reflection> reflections;

  explicit Factors(const MatrixXd& directions)
      : norms(detail::column_norms(directions)),
        units(directions * norms.cwiseInverse().asDiagonal()),
        r(units) {
    for (Index k = 0; k < std::min(r.rows(), r.cols()); ++k) {
      reflections.emplace_back(r.col(k).tail(r.rows() - k));
      r(k, k) = reflections.back().image;
      for (Index j = k + 1; j < r.cols(); ++j)
        reflections.back().apply(r.col(j).tail(r.rows() - k));
    }
  }
};

void require_directions(const char* function, const Plane& plane) {
  const Index num_directions = plane.directions.cols();
  if (num_directions >= 1 && num_directions <= 2 &&
      plane.directions.rows() == plane.centre.size()) {
    return;
  }
  throw PreconditionError(
      fmt::format("Plane::{}: expected one or two directions of {} numbers, as the centre has, "
                  "found {} of {}",
                  function,
                  plane.centre.size(),
                  num_directions,
                  plane.directions.rows()));
}

Factors independent_factors(const char* function, const Plane& plane) {
  // Sine of the angle below which only rounding keeps directions apart.
  constexpr double kParallel = 1e-14;
  require_directions(function, plane);
  Factors factors(plane.directions);
  for (Index k = 0; k < plane.directions.cols(); ++k) {
    if (k < factors.r.rows() && std::abs(factors.r(k, k)) > kParallel) continue;
    throw PreconditionError(fmt::format(
        "Plane::{}: the directions must be finite, not zero and not parallel", function));
  }
  return factors;
}

}  // namespace

VectorXd Plane::at(double alpha, double beta) const {
  require_directions("at", *this);
  if (beta != 0 && directions.cols() < 2) {
    throw PreconditionError(
        fmt::format("Plane::at: beta must be 0 without a second direction, got {}", beta));
  }
  VectorXd point = centre;
  if (alpha != 0) point += alpha * directions.col(0);
  if (beta != 0) point += beta * directions.col(1);
  return point;
}

Plane::Projection Plane::project(const Eigen::Ref<const VectorXd>& theta) const {
  if (theta.size() != centre.size()) {
    throw PreconditionError(fmt::format(
        "Plane::project: theta must have {} entries, got {}", centre.size(), theta.size()));
  }
  const Factors factors = independent_factors("project", *this);
  const VectorXd difference = theta - centre;
  if (!difference.allFinite()) return {kNaN, kNaN, kNaN};
  VectorXd along = difference;  // becomes Q^T difference, then R^-1 of its first coordinates
  Index k = 0;
  for (const Reflection& reflection : factors.reflections)
    reflection.apply(along.tail(along.size() - k++));
  along.conservativeResizeLike(VectorXd::Zero(directions.cols()));
  while (k-- > 0) {
    if (along[k] == 0) continue;  // avoids -0, whatever the sign of R
    along[k] /= factors.r(k, k);
    for (Index i = 0; i < k; ++i) along[i] -= along[k] * factors.r(i, k);
  }
  const VectorXd coordinates = along.cwiseQuotient(factors.norms);
  const double residual = detail::norm(difference - factors.units * along);
  return {coordinates[0], coordinates.size() > 1 ? coordinates[1] : 0.0, residual};
}

MatrixXd Plane::basis() const {
  const Factors factors = independent_factors("basis", *this);
  MatrixXd q = MatrixXd::Identity(directions.rows(), directions.cols());
  for (auto k = static_cast<Index>(factors.reflections.size()); k-- > 0;)
    factors.reflections[static_cast<std::size_t>(k)].apply_to_columns(q.bottomRows(q.rows() - k));
  return q;
}

double cosine(const Eigen::Ref<const VectorXd>& a, const Eigen::Ref<const VectorXd>& b) {
  if (a.size() != b.size()) {
    throw PreconditionError(fmt::format(
        "cosine: the vectors must have the same size, got {} and {}", a.size(), b.size()));
  }
  return (a / detail::norm(a)).dot(b / detail::norm(b));
}

}  // namespace hesscope
