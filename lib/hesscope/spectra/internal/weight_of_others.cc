// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/core/constants.h>
#include <hesscope/spectra/internal/weight_of_others.h>

namespace hesscope::detail {
namespace {

double factor_of_others(const Objective& objective, SampleRange block) {
  constexpr double kLeast = 1e-12;  // relative to N; less is nothing but rounding
  const auto num_samples = static_cast<double>(objective.num_samples());
  const auto size = static_cast<double>(block.size());
  const double of_block = objective.sample_weight(block);
  if (of_block == size) return 1.0;
  const double left = num_samples - of_block;
  return left > kLeast * num_samples ? (num_samples - size) / left : kNaN;
}

}  // namespace

WeightOfOthers::WeightOfOthers(const Objective& objective, SampleRange block)
    : factor_(factor_of_others(objective, block)), decay_(objective.weight_decay()) {}

void WeightOfOthers::apply_to_gradient(const Eigen::Ref<const Eigen::VectorXd>& theta,
                                       Eigen::VectorXd& gradient) const {
  if (factor_ == 1.0) return;
  const double of_decay = (1.0 - factor_) * decay_;
  gradient = factor_ * gradient + of_decay * theta;
}

void WeightOfOthers::apply_to_hessian(double multiple, Eigen::MatrixXd& hessian) const {
  if (factor_ == 1.0) return;
  const double of_decay = (1.0 - factor_) * decay_;
  hessian *= factor_;
  hessian.diagonal().array() += multiple * of_decay;
}

}  // namespace hesscope::detail
