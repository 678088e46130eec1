// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/spectra/internal/null_space.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSmallestPivot = 1e-8;  // relative to the largest

struct RightSingular {
  VectorXd values;   // descending
  MatrixXd vectors;  // columns
};

// All right singular vectors of a matrix with at least as many rows as columns, or nothing if an
// entry is not finite or the iteration did not converge.
std::optional<RightSingular> right_singular(const MatrixXd& a) {
  SingularValues found = hesscope::thin_svd(a);
  if (found.status != Status::kOk) return std::nullopt;
  return RightSingular{std::move(found.values), std::move(found.right)};
}

// H(:, parameters) W, a few columns of H at a time.
MatrixXd hessian_times(const ScaledPoint& point,
                       const std::vector<Index>& parameters,
                       const MatrixXd& w) {
  constexpr Index kChunk = 64;
  MatrixXd product = MatrixXd::Zero(point.size(), w.cols());
  MatrixXd columns(point.size(), kChunk);
  for (Index first = 0; first < w.rows(); first += kChunk) {
    const Index count = std::min(kChunk, w.rows() - first);
    for (Index i = 0; i < count; ++i) {
      const Index j = parameters[static_cast<std::size_t>(first + i)];
      columns.col(i) = scaled_back(point.hessian->col(j), -point.exponent);
    }
    product.noalias() += columns.leftCols(count) * w.middleRows(first, count);
  }
  return product;
}

// The index of the largest of descending values that is at most `limit`.
Index first_within(const VectorXd& values, double limit) {
  Index first = 0;
  while (first < values.size() && !(values[first] <= limit)) ++first;
  return first;
}

// How far ||H v|| may be from zero because of the error of H along a unit vector v on the set's
// parameters.
double product_error(const ScaledPoint& point,
                     const std::vector<Index>& parameters,
                     const VectorXd& v) {
  if (!point.product_error) return 0.0;
  VectorXd all = VectorXd::Zero(point.size());
  for (Index i = 0; i < v.size(); ++i) all[parameters[static_cast<std::size_t>(i)]] = v[i];
  return point.product_error(all);
}

// Removes from the basis what H refutes. False if a decomposition failed.
bool confirm(NullSpace& space, const ScaledPoint& point, const std::vector<Index>& parameters) {
  if (space.basis.cols() == 0) return true;
  const auto found = right_singular(hessian_times(point, parameters, space.basis));
  if (!found) return false;
  const double limit = kConfirmingTolerances * space.tolerance;
  const auto bound = [&](Index k) {
    const VectorXd v = space.basis * found->vectors.col(k);
    return limit + product_error(point, parameters, v);
  };
  Index refuted = first_within(found->values, limit);
  double last_bound = kNaN;  // measured by a product with H
  while (refuted > 0 && found->values[refuted - 1] <= (last_bound = bound(refuted - 1))) --refuted;
  const Index confirmed = found->values.size() - refuted;
  if (refuted > 0) {
    lower(space.smallest_refutation, found->values[refuted - 1]);
    space.largest_refutation = found->values[0];
    space.confirmation_bound = refuted == 1 ? last_bound : bound(0);
    space.refuted = space.basis * found->vectors.col(0);
  }
  if (confirmed > 0) raise(space.largest_residual, found->values[refuted]);
  space.num_unconfirmed = refuted;
  space.basis = (space.basis * found->vectors.rightCols(confirmed)).eval();
  return true;
}

// Adds to the basis the directions in the span of `vague` for which H is zero: g makes no usable
// prediction for them, so H refutes nothing. False if a decomposition failed.
bool add_vague(const MatrixXd& vague,
               const ScaledPoint& point,
               const std::vector<Index>& parameters,
               NullSpace& space) {
  if (vague.cols() == 0) return true;
  const auto found = right_singular(hessian_times(point, parameters, vague));
  if (!found) return false;
  const Index refused = first_within(found->values, kZeroOfHessian * point.norm);
  const Index added = found->values.size() - refused;
  if (refused > 0) lower(space.smallest_refused, found->values[refused - 1]);
  if (added == 0) return true;
  raise(space.largest_accepted, found->values[refused]);
  raise(space.largest_residual, found->values[refused]);
  const Index known = space.basis.cols();
  space.basis.conservativeResize(vague.rows(), known + added);
  space.basis.rightCols(added) = vague * found->vectors.rightCols(added);
  return true;
}

}  // namespace

void raise(double& value, double candidate) { value = std::fmax(value, candidate); }

void lower(double& value, double candidate) { value = std::fmin(value, candidate); }

GeneratorColumns generator_columns(const GeneratorSet& set,
                                   std::span<const Invariance> invariances,
                                   const ScaledPoint& point) {
  const auto T = static_cast<Index>(set.parameters.size());
  const auto K = static_cast<Index>(set.members.size());
  const auto row = [&](Index parameter) {
    const auto& all = set.parameters;
    return std::lower_bound(all.begin(), all.end(), parameter) - all.begin();
  };
  GeneratorColumns columns{MatrixXd::Zero(T, K), MatrixXd::Zero(T, K), VectorXd::Zero(K), {}};
  Index kept = 0;
  for (const auto& member : set.members) {
    const AffineGenerator generator = invariances[member.family].generator(member.index);
    auto u = columns.u.col(kept);
    auto bt_g = columns.bt_g.col(kept);
    u.setZero();
    bt_g.setZero();
    VectorXd values(static_cast<Index>(generator.linear.size()));
    for (Index e = 0; e < values.size(); ++e) {
      const auto& entry = generator.linear[static_cast<std::size_t>(e)];
      values[e] = entry.value;
      bt_g[row(entry.col)] += entry.value * point.gradient[entry.row];
      if (!point.dead(entry.row)) u[row(entry.row)] += entry.value * point.theta[entry.col];
    }
    for (const auto& entry : generator.constant) {
      if (!point.dead(entry.row)) u[row(entry.row)] += entry.value;
    }
    const double norm = detail::norm(u);
    if (!(norm > 0.0)) continue;
    u /= norm;
    bt_g /= norm;
    columns.sensitivity[kept++] = detail::norm(values) / norm;
    columns.family.push_back(member.family);
  }
  columns.u.conservativeResize(T, kept);
  columns.bt_g.conservativeResize(T, kept);
  columns.sensitivity.conservativeResize(kept);
  return columns;
}

std::optional<NullSpace> null_space(const GeneratorColumns& columns,
                                    Index K,
                                    const ScaledPoint& point,
                                    const std::vector<Index>& parameters) {
  const SingleThreadedBlas one_thread;
  NullSpace space;
  const Index T = columns.u.rows();
  PivotedQr qr = pivoted_qr(columns.u.leftCols(K));
  const VectorXd diagonal = qr.factors.diagonal().cwiseAbs();
  const VectorXd pivots = diagonal / diagonal.maxCoeff();
  Index rank = 0;
  while (rank < pivots.size() && pivots[rank] > kSmallestPivot) ++rank;
  if (rank == 0) return std::nullopt;
  lower(space.smallest_pivot, pivots[rank - 1]);
  if (rank < pivots.size()) raise(space.largest_dependence, pivots[rank]);

  const auto r = qr.factors.topLeftCorner(rank, rank);
  MatrixXd bt_g(T, rank);
  VectorXd sensitivity(rank);
  for (Index k = 0; k < rank; ++k) {
    const Index generator = qr.order[static_cast<std::size_t>(k)];
    bt_g.col(k) = columns.bt_g.col(generator);
    sensitivity[k] = columns.sensitivity[generator];
  }
  const auto found = right_singular(divide_by_upper(std::move(bt_g), r));
  if (!found) return std::nullopt;

  const MatrixXd c = solve_upper(r, found->vectors).cwiseAbs();
  const auto n = static_cast<double>(point.size());
  MatrixXd accepted = MatrixXd::Zero(T, rank);
  MatrixXd vague = MatrixXd::Zero(T, rank);
  Index num_accepted = 0;
  Index num_vague = 0;
  for (Index k = 0; k < rank; ++k) {
    const double tolerance = point.band * (1.0 + c.col(k).sum() / (n + 10.0)) +
                             point.gradient_error * c.col(k).dot(sensitivity);
    if (!(found->values[k] <= tolerance)) {
      lower(space.smallest_refused, found->values[k]);
    } else if (tolerance > kZeroOfHessian * point.norm) {
      vague.col(num_vague++).head(rank) = found->vectors.col(k);
    } else {
      accepted.col(num_accepted++).head(rank) = found->vectors.col(k);
      raise(space.largest_accepted, found->values[k]);
      raise(space.tolerance, tolerance);
    }
  }
  space.basis = apply_q(qr, rank, accepted.leftCols(num_accepted));
  if (!confirm(space, point, parameters)) return std::nullopt;
  if (!add_vague(apply_q(qr, rank, vague.leftCols(num_vague)), point, parameters, space)) {
    return std::nullopt;
  }
  return space;
}

}  // namespace hesscope::detail
