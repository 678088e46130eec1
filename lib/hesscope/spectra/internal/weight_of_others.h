// SPDX-License-Identifier: BSD-3-Clause
//
// A loss that is a mean with weights, of the samples outside of a block.
#pragma once

#include <cmath>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// What the loss over the samples outside of a block b makes of means x over them of what the
/// objective has of each: c (x - w y) + w y, with w of weight decay, and its gradient theta or its
/// Hessian I as y. Of N samples of which the block has N_b, which weigh W_b,
///   c = (N - N_b) / (N - W_b)
/// (Objective::sample_weight): 1 where each sample weighs 1.
class WeightOfOthers {
 public:
  /// As if each sample weighed 1.
  WeightOfOthers() = default;

  WeightOfOthers(const Objective& objective, SampleRange block);

  /// c; NaN where the others weigh nothing.
  double factor() const { return factor_; }

  /// w
  double decay() const { return decay_; }

  /// Whether the others weigh nothing.
  bool is_none() const { return std::isnan(factor_); }

  void apply_to_gradient(const Eigen::Ref<const Eigen::VectorXd>& theta,
                         Eigen::VectorXd& gradient) const;

  /// @param multiple  of the Hessian that is there.
  void apply_to_hessian(double multiple, Eigen::MatrixXd& hessian) const;

  /// c^2 of covariances, which weight decay leaves as they are.
  double square() const { return factor_ * factor_; }

 private:
  double factor_ = 1.0;
  double decay_ = 0.0;
};

}  // namespace hesscope::detail
