// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope::test {

/// The mean over samples i of c + b^T x + x^T A_i x / 2, with gradients b + A_i x and Hessians A_i.
class QuadraticObjective : public Objective {
 public:
  /// b is zero, and the only parameter tensor is "theta", unless given.
  explicit QuadraticObjective(std::vector<Matrix> matrices,
                              Vector linear = {},
                              double constant = 0,
                              std::vector<ParameterBlock> blocks = {})
      : matrices_(std::move(matrices)),
        linear_(linear.size() > 0 ? std::move(linear) : Vector::Zero(num_parameters())),
        constant_(constant),
        blocks_(std::move(blocks)) {
    if (blocks_.empty()) blocks_ = {{"theta", {num_parameters()}, 0, num_parameters()}};
  }

  Eigen::Index num_parameters() const override { return matrices_.front().rows(); }

  Eigen::Index num_samples() const override { return static_cast<Eigen::Index>(matrices_.size()); }

  std::span<const ParameterBlock> parameter_blocks() const override { return blocks_; }

  double workspace_bytes() const override { return 0.0; }

 protected:
  double do_value(const ConstVectorRef& theta, SampleRange range) const override {
    return constant_ + linear_.dot(theta) + 0.5 * theta.dot(mean(range) * theta);
  }

  ValueAndGradient do_value_and_gradient(const ConstVectorRef& theta,
                                         SampleRange range) const override {
    return {do_value(theta, range), linear_ + mean(range) * theta};
  }

  Matrix do_hessian_times(const ConstVectorRef& /*theta*/,
                          const ConstMatrixRef& directions,
                          SampleRange range) const override {
    return mean(range) * directions;
  }

  Matrix do_hessian(const ConstVectorRef& /*theta*/,
                    SampleRange range,
                    const ProgressCallback& progress) const override {
    Matrix result = mean(range);
    if (progress && !progress(1.0)) throw Interrupted{};
    return result;
  }

  Matrix do_per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const override {
    Matrix result(num_parameters(), range.size());
    for (Eigen::Index i = range.begin; i < range.end; ++i) {
      result.col(i - range.begin) = linear_ + matrix(i) * theta;
    }
    return result;
  }

 private:
  const Matrix& matrix(Eigen::Index i) const { return matrices_[static_cast<std::size_t>(i)]; }

  Matrix mean(SampleRange range) const {
    Matrix sum = Matrix::Zero(num_parameters(), num_parameters());
    for (Eigen::Index i = range.begin; i < range.end; ++i) sum += matrix(i);
    return sum / static_cast<double>(range.size());
  }

  std::vector<Matrix> matrices_;
  Vector linear_;
  double constant_;
  std::vector<ParameterBlock> blocks_;
};

}  // namespace hesscope::test
