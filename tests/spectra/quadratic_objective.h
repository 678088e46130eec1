// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::test {

/// The mean of theta^T A_i theta / 2: its Hessian over a range is the mean of the A_i there.
class QuadraticObjective final : public Objective {
 public:
  explicit QuadraticObjective(std::vector<Matrix> matrices)
      : matrices_(std::move(matrices)),
        blocks_{{{"theta", {num_parameters()}, 0, num_parameters()}}} {}

  using Objective::hessian;
  using Objective::hessian_times;
  using Objective::value;

  Eigen::Index num_parameters() const override { return matrices_.front().rows(); }

  Eigen::Index num_samples() const override { return static_cast<Eigen::Index>(matrices_.size()); }

  std::span<const ParameterBlock> parameter_blocks() const override { return blocks_; }

  double value(const ConstVectorRef& theta, SampleRange range) const override {
    return 0.5 * theta.dot(mean(range) * theta);
  }

  ValueAndGradient value_and_gradient(const ConstVectorRef& theta,
                                      SampleRange range) const override {
    return {value(theta, range), mean(range) * theta};
  }

  Matrix hessian_times(const ConstVectorRef& /*theta*/,
                       const ConstMatrixRef& directions,
                       SampleRange range) const override {
    return mean(range) * directions;
  }

  Matrix hessian(const ConstVectorRef& /*theta*/,
                 SampleRange range,
                 const ProgressCallback& progress) const override {
    Matrix result = mean(range);
    if (progress && !progress(1.0)) throw Interrupted{};
    return result;
  }

  Matrix per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const override {
    Matrix result(num_parameters(), range.size());
    for (Eigen::Index i = range.begin; i < range.end; ++i) {
      result.col(i - range.begin) = matrix(i) * theta;
    }
    return result;
  }

  double workspace_bytes() const override { return 0.0; }

 private:
  const Matrix& matrix(Eigen::Index i) const { return matrices_[static_cast<std::size_t>(i)]; }

  Matrix mean(SampleRange range) const {
    Matrix sum = Matrix::Zero(num_parameters(), num_parameters());
    for (Eigen::Index i = range.begin; i < range.end; ++i) sum += matrix(i);
    return sum / static_cast<double>(range.size());
  }

  std::vector<Matrix> matrices_;
  std::array<ParameterBlock, 1> blocks_;
};

}  // namespace hesscope::test
