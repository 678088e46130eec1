// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of Gaussians on equally spaced points.
#pragma once

#include <optional>

#include <Eigen/Core>

namespace hesscope::detail {

class GaussianGrid {
 public:
  /// From `lower` to `upper`, by default from 8 sigma below `smallest` to 8 sigma above `largest`.
  /// @throws PreconditionError naming `function` unless sigma > 0, lower < upper, num_points >= 2
  ///         and all are finite.
  GaussianGrid(const char* function,
               double sigma,
               double smallest,
               double largest,
               std::optional<double> lower,
               std::optional<double> upper,
               Eigen::Index num_points);

  double sigma() const { return sigma_; }

  double lower() const { return points_[0]; }

  double upper() const { return points_[points_.size() - 1]; }

  double spacing() const;

  const Eigen::VectorXd& points() const { return points_; }

  /// sum_k weights[k] exp(-((x - nodes[k]) / sigma)^2 / 2) at each point x.
  Eigen::VectorXd kernel_sum(const Eigen::VectorXd& nodes, const Eigen::VectorXd& weights) const;

  /// The same, divided by sqrt(2 pi) sigma, so that the integral is sum_k weights[k].
  Eigen::VectorXd density(const Eigen::VectorXd& nodes, const Eigen::VectorXd& weights) const;

 private:
  double sigma_;
  Eigen::VectorXd points_;
};

}  // namespace hesscope::detail
