// SPDX-License-Identifier: BSD-3-Clause
//
// An objective that somebody wrote by hand, with what it returns checked once instead of by
// everyone who takes it: a matrix of another size would be read beyond its end, or be believed.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/invariance.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// Asks `objective` and checks the sizes of its answers; values are passed on as they are, and so
/// are exceptions. @throws PreconditionError from each member whose answer has another size than
/// Objective promises, naming the member and both sizes.
class CheckedObjective final : public Objective {
 public:
  /// @param  objective  must outlive this.
  /// @throws PreconditionError if it has no parameters, no samples, or as require_blocks() wants
  ///         its blocks.
  explicit CheckedObjective(const Objective& objective);
  explicit CheckedObjective(const Objective&& objective) = delete;

  Eigen::Index num_parameters() const override { return num_parameters_; }

  Eigen::Index num_samples() const override { return num_samples_; }

  std::span<const ParameterBlock> parameter_blocks() const override {
    return objective_->parameter_blocks();
  }

  double sample_weight(SampleRange range) const override {
    return objective_->sample_weight(range);
  }

  double weight_decay() const override { return objective_->weight_decay(); }

  bool has_third_derivatives() const override { return objective_->has_third_derivatives(); }

  bool has_gauss_newton() const override { return objective_->has_gauss_newton(); }

  double workspace_bytes() const override { return objective_->workspace_bytes(); }

  std::vector<Invariance> invariances() const override { return objective_->invariances(); }

  using Objective::gauss_newton;
  using Objective::gauss_newton_times;
  using Objective::hessian;
  using Objective::hessian_times;
  using Objective::line_derivatives;
  using Objective::third_derivative_times;
  using Objective::value;

  double value(const ConstVectorRef& theta, SampleRange range) const override;
  ValueAndGradient value_and_gradient(const ConstVectorRef& theta,
                                      SampleRange range) const override;
  Matrix hessian_times(const ConstVectorRef& theta,
                       const ConstMatrixRef& directions,
                       SampleRange range) const override;
  Matrix third_derivative_times(const ConstVectorRef& theta,
                                const ConstMatrixRef& u,
                                const ConstMatrixRef& v,
                                SampleRange range) const override;
  Matrix line_derivatives(const ConstVectorRef& theta,
                          const ConstMatrixRef& directions,
                          SampleRange range) const override;
  Matrix hessian(const ConstVectorRef& theta,
                 SampleRange range,
                 const ProgressCallback& progress) const override;
  Matrix hessian_columns(const ConstVectorRef& theta,
                         SampleRange range,
                         Eigen::Index first,
                         Eigen::Index width) const override;
  void with_ranks(const ConstVectorRef& theta,
                  SampleRange range,
                  const std::function<void()>& body) const override;
  Matrix gauss_newton_times(const ConstVectorRef& theta,
                            const ConstMatrixRef& directions,
                            SampleRange range) const override;
  Matrix gauss_newton(const ConstVectorRef& theta,
                      SampleRange range,
                      const ProgressCallback& progress) const override;
  Matrix predictions(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix per_sample_hessian_times(const ConstVectorRef& theta,
                                  const ConstMatrixRef& directions,
                                  SampleRange range) const override;

 private:
  const Objective* objective_;
  Eigen::Index num_parameters_;
  Eigen::Index num_samples_;
};

}  // namespace hesscope
