// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::test {

/// Entries uniform in [-1, 1).
inline Eigen::MatrixXd uniform(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  return Eigen::MatrixXd::NullaryExpr(
      rows, cols, [&engine] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0; });
}

/// f(x) = c + b^T x + x^T A x / 2 with an indefinite A, of one sample, whose 24 parameters are a
/// matrix of 3 x 4, a vector of 3, a scalar and a tensor of 2 x 2 x 2.
class QuadraticObjective final : public Objective {
 public:
  using Objective::gradient;
  using Objective::hessian;
  using Objective::hessian_times;
  using Objective::value;

  static constexpr Eigen::Index kSize = 24;

  const double c = 0.75;
  const Eigen::VectorXd b = uniform(kSize, 1, 1);
  const Eigen::MatrixXd A = [] {
    const Eigen::MatrixXd half = uniform(kSize, kSize, 2);
    return Eigen::MatrixXd(half + half.transpose());
  }();

  Eigen::Index num_parameters() const override { return kSize; }

  Eigen::Index num_samples() const override { return 1; }

  std::span<const ParameterBlock> parameter_blocks() const override { return blocks_; }

  double value(const ConstVectorRef& x, SampleRange /*range*/) const override {
    return c + b.dot(x) + x.dot(A * x) / 2;
  }

  ValueAndGradient value_and_gradient(const ConstVectorRef& x, SampleRange range) const override {
    return {value(x, range), b + A * x};
  }

  Matrix hessian_times(const ConstVectorRef& /*x*/,
                       const ConstMatrixRef& directions,
                       SampleRange /*range*/) const override {
    return A * directions;
  }

  Matrix hessian(const ConstVectorRef& /*x*/,
                 SampleRange /*range*/,
                 const ProgressCallback& /*progress*/) const override {
    return A;
  }

  Matrix per_sample_gradients(const ConstVectorRef& x, SampleRange range) const override {
    return gradient(x, range);
  }

  double workspace_bytes() const override { return 0; }

 private:
  const std::vector<ParameterBlock> blocks_ = {{"weight", {3, 4}, 0, 12},
                                               {"bias", {3}, 12, 3},
                                               {"scale", {}, 15, 1},
                                               {"cube", {2, 2, 2}, 16, 8}};
};

}  // namespace hesscope::test
