// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/internal/gaussian_grid.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kMargin = 8.0;  // 6e-16 of a Gaussian lie beyond it on either side
constexpr double kReach = 39.0;  // exp(-39^2 / 2) is zero in double

}  // namespace

GaussianGrid::GaussianGrid(const char* function,
                           double sigma,
                           double smallest,
                           double largest,
                           std::optional<double> lower,
                           std::optional<double> upper,
                           Index num_points)
    : sigma_(sigma) {
  if (!(sigma > 0.0 && std::isfinite(sigma))) {
    throw PreconditionError(
        fmt::format("{}: sigma must be positive and finite, got {}", function, sigma));
  }
  if (num_points < 2) {
    throw PreconditionError(
        fmt::format("{}: num_points must be at least 2, got {}", function, num_points));
  }
  const double from = lower.value_or(smallest - kMargin * sigma);
  const double to = upper.value_or(largest + kMargin * sigma);
  if (!(from < to && std::isfinite(to - from))) {
    throw PreconditionError(fmt::format(
        "{}: a grid must have lower < upper, finite; got {} and {}", function, from, to));
  }
  const auto last = static_cast<double>(num_points - 1);
  points_ = VectorXd::NullaryExpr(num_points, [&](Index i) {
    const double t = static_cast<double>(i) / last;
    return (1.0 - t) * from + t * to;
  });
}

double GaussianGrid::spacing() const {
  return (upper() - lower()) / static_cast<double>(points_.size() - 1);
}

VectorXd GaussianGrid::kernel_sum(const VectorXd& nodes, const VectorXd& weights) const {
  VectorXd sum = VectorXd::Zero(points_.size());
  for (Index k = 0; k < nodes.size(); ++k) {
    const double reach = kReach * sigma_;
    const auto* const first =
        std::lower_bound(points_.data(), points_.data() + points_.size(), nodes[k] - reach);
    for (Index i = first - points_.data(); i < points_.size(); ++i) {
      const double z = (points_[i] - nodes[k]) / sigma_;
      if (z > kReach) break;
      sum[i] += weights[k] * std::exp(-0.5 * z * z);
    }
  }
  return sum;
}

VectorXd GaussianGrid::density(const VectorXd& nodes, const VectorXd& weights) const {
  return kernel_sum(nodes, weights) / (std::sqrt(2.0 * std::numbers::pi) * sigma_);
}

}  // namespace hesscope::detail
