// SPDX-License-Identifier: BSD-3-Clause
//
// Weighted means as losses, over the samples outside a block.
#pragma once

#include <cmath>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Corrects means over the samples outside a block b. If x is such a mean of an objective's
/// gradients or Hessians, that of the loss over these samples is c (x - w y) + w y, where w is the
/// weight decay, and y its gradient theta or its Hessian I. With N samples, of which the block has
/// N_b with a total weight W_b,
///   c = (N - N_b) / (N - W_b)
/// (Objective::sample_weight); it is 1 if each sample has weight 1.
class WeightOfOthers {
 public:
  /// As if each sample had weight 1.
  WeightOfOthers() = default;

  WeightOfOthers(const Objective& objective, SampleRange block);

  /// c; NaN if the other samples have no weight.
  double factor() const { return factor_; }

  /// w
  double decay() const { return decay_; }

  /// Whether the other samples have no weight.
  bool is_none() const { return std::isnan(factor_); }

  void apply_to_gradient(const Eigen::Ref<const Eigen::VectorXd>& theta,
                         Eigen::VectorXd& gradient) const;

  /// @param multiple  `hessian` holds this multiple of the Hessian.
  void apply_to_hessian(double multiple, Eigen::MatrixXd& hessian) const;

  /// c^2, for covariances, which weight decay does not change.
  double square() const { return factor_ * factor_; }

 private:
  double factor_ = 1.0;
  double decay_ = 0.0;
};

}  // namespace hesscope::detail
