// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/reproduction/internal/grid_shape.h>

namespace hesscope::detail {
namespace {

using Index = Eigen::Index;
using Points =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// One inner point with its neighbours, rows along y.
using Stencil = Eigen::Matrix3d;

// Second differences in units of the grid: the determinant's sign needs no spacing.
bool is_convex(const Stencil& f, bool has_x, bool has_y) {
  const double xx = f(1, 0) - 2 * f(1, 1) + f(1, 2);
  const double yy = f(0, 1) - 2 * f(1, 1) + f(2, 1);
  if (!has_y) return xx > 0;
  if (!has_x) return yy > 0;
  const double xy = (f(2, 2) - f(2, 0) - f(0, 2) + f(0, 0)) / 4;
  // The determinant of a loss of 1e-200 is below the range of double.
  return xx > 0 && Wide(xx) * yy > Wide(xy) * xy;
}

bool is_minimum(const Stencil& f) {
  int num_above = 0;
  for (const double value : f.reshaped()) num_above += value > f(1, 1) ? 1 : 0;
  return num_above == 8;
}

// Infinity for the neighbours that a line does not have, NaN for values that are not finite.
Stencil stencil_of(const Points& f, Index i, Index j, bool has_x, bool has_y) {
  Stencil s;
  for (Index di = -1; di <= 1; ++di) {
    for (Index dj = -1; dj <= 1; ++dj) {
      double& entry = s(di + 1, dj + 1);
      entry = kInfinity;
      if ((di != 0 && !has_y) || (dj != 0 && !has_x)) continue;
      const double value = f(i + di, j + dj);
      entry = std::isfinite(value) ? value : kNaN;
    }
  }
  return s;
}

double roughness_of(std::span<const double> x, std::span<const double> y, const Points& f) {
  // Coordinates are scaled to [-1, 1], so that columns have similar sizes.
  const auto scaled = [](std::span<const double> axis, Index k) {
    const double middle = (axis.front() + axis.back()) / 2;
    const double half = (axis.back() - axis.front()) / 2;
    return half > 0 ? (axis[static_cast<std::size_t>(k)] - middle) / half : 0.0;
  };
  const Index count = f.array().isFinite().count();
  Eigen::MatrixXd terms(count, 6);
  Eigen::VectorXd values(count);
  Index row = 0;
  for (Index i = 0; i < f.rows(); ++i) {
    for (Index j = 0; j < f.cols(); ++j) {
      if (!std::isfinite(f(i, j))) continue;
      const double a = scaled(x, j);
      const double b = scaled(y, i);
      terms.row(row) << 1, a, b, a * a, a * b, b * b;
      values[row++] = f(i, j);
    }
  }
  if (count < 7) return kNaN;
  const double spread = norm((values.array() - values.mean()).matrix());
  if (!(spread > 0)) return kNaN;
  // An orthonormal basis of the span of quadratics; on a line, its dimension is below the number of
  // terms.
  const SingularValues svd = thin_svd(terms);
  if (svd.status != Status::kOk) return kNaN;
  const Index rank = (svd.values.array() > 1e-12 * svd.values[0]).count();
  const Eigen::MatrixXd basis = svd.left.leftCols(rank);
  return norm(values - basis * (basis.transpose() * values)) / spread;
}

}  // namespace

GridShape grid_shape(std::span<const double> x,
                     std::span<const double> y,
                     std::span<const double> values) {
  const Points f(values.data(), static_cast<Index>(y.size()), static_cast<Index>(x.size()));
  const bool has_x = x.size() > 1;
  const bool has_y = y.size() > 1;
  GridShape shape;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    shape.minimum = std::fmin(shape.minimum, value);
    shape.maximum = std::fmax(shape.maximum, value);
  }
  Index num_inner = 0;
  Index num_convex = 0;
  for (Index i = has_y ? 1 : 0; i < f.rows() - (has_y ? 1 : 0); ++i) {
    for (Index j = has_x ? 1 : 0; j < f.cols() - (has_x ? 1 : 0); ++j) {
      const Stencil stencil = stencil_of(f, i, j, has_x, has_y);
      if (stencil.array().isNaN().any()) continue;
      ++num_inner;
      if (is_convex(stencil, has_x, has_y)) ++num_convex;
      if (is_minimum(stencil)) ++shape.num_minima;
    }
  }
  if (num_inner > 0) {
    shape.convex_share = static_cast<double>(num_convex) / static_cast<double>(num_inner);
  }
  shape.roughness = roughness_of(x, y, f);
  return shape;
}

}  // namespace hesscope::detail
