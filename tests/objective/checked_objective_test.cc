// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/checked_objective.h>

#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Matrix = Objective::Matrix;
using Vector = Objective::Vector;

// |x|^2 / 2 of three parameters, with answers that are of two.
class Mistaken final : public test::QuadraticObjective {
 public:
  Mistaken() : QuadraticObjective({Matrix::Identity(3, 3), Matrix::Identity(3, 3)}) {}

  ValueAndGradient value_and_gradient(const ConstVectorRef&, SampleRange) const override {
    return {0, Vector::Zero(2)};
  }

  Matrix hessian_times(const ConstVectorRef&,
                       const ConstMatrixRef& directions,
                       SampleRange) const override {
    return Matrix::Zero(2, directions.cols());
  }

  Matrix hessian(const ConstVectorRef&, SampleRange, const ProgressCallback&) const override {
    return Matrix::Identity(2, 2);
  }

  Matrix hessian_columns(const ConstVectorRef&,
                         SampleRange,
                         Eigen::Index,
                         Eigen::Index) const override {
    return Matrix::Identity(2, 2);
  }

  Matrix per_sample_gradients(const ConstVectorRef&, SampleRange range) const override {
    return Matrix::Zero(2, range.size());
  }

  Matrix per_sample_hessian_times(const ConstVectorRef&,
                                  const ConstMatrixRef&,
                                  SampleRange) const override {
    return Matrix::Zero(3, 1);
  }

  bool has_gauss_newton() const override { return true; }

  bool has_third_derivatives() const override { return true; }

  Matrix gauss_newton_times(const ConstVectorRef&,
                            const ConstMatrixRef& directions,
                            SampleRange) const override {
    return Matrix::Zero(2, directions.cols());
  }

  Matrix gauss_newton(const ConstVectorRef&, SampleRange, const ProgressCallback&) const override {
    return Matrix::Zero(3, 2);
  }

  Matrix predictions(const ConstVectorRef&, SampleRange) const override {
    return Matrix::Zero(1, 1);
  }

  Matrix prediction_jacobian(const ConstVectorRef&, SampleRange) const override {
    return Matrix::Zero(3, 3);
  }

  Matrix third_derivative_times(const ConstVectorRef&,
                                const ConstMatrixRef&,
                                const ConstMatrixRef& v,
                                SampleRange) const override {
    return Matrix::Zero(2, v.cols());
  }

  Matrix line_derivatives(const ConstVectorRef&,
                          const ConstMatrixRef& directions,
                          SampleRange) const override {
    return Matrix::Zero(kLineOrder, directions.cols());
  }
};

TEST(CheckedObjective, RefusesAnswersOfOtherSizesByMember) {
  const Mistaken mistaken;
  const CheckedObjective checked(mistaken);
  const Vector x = Vector::Zero(3);
  const Matrix v = Matrix::Identity(3, 2);
  const SampleRange all = checked.all_samples();
  const auto refuses = [](auto call, const char* why) {
    EXPECT_THAT(call, ThrowsMessage<PreconditionError>(HasSubstr(why)));
  };
  refuses([&] { checked.gradient(x); }, "value_and_gradient() returned a gradient of 2 entries");
  refuses([&] { checked.hessian(x); }, "hessian() returned a matrix of 2 x 2, which must be 3 x 3");
  refuses([&] { checked.hessian_times(x, v); }, "hessian_times() returned a matrix of 2 x 2");
  refuses([&] { checked.hessian_columns(x, all, 0, 2); }, "hessian_columns() returned");
  refuses([&] { checked.per_sample_gradients(x, all); }, "per_sample_gradients() returned");
  refuses([&] { checked.per_sample_hessian_times(x, v, all); }, "3 x 1, which must be 3 x 2");
  refuses([&] { checked.gauss_newton(x); }, "gauss_newton() returned");
  refuses([&] { checked.gauss_newton_times(x, v); }, "gauss_newton_times() returned");
  refuses([&] { checked.predictions(x, all); }, "one of 2 columns, one for each sample");
  refuses([&] { checked.prediction_jacobian(x, all); }, "as many rows for each of 2 samples");
  refuses([&] { checked.third_derivative_times(x, v, v); }, "third_derivative_times() returned");
  refuses([&] { checked.line_derivatives(x, v); }, "line_derivatives() returned");
}

TEST(CheckedObjective, PassesOnWhatFits) {
  const Matrix a = Eigen::Vector2d(1, 3).asDiagonal();
  const test::QuadraticObjective objective({a, 2 * a}, Eigen::Vector2d(1, 0), 5);
  const CheckedObjective checked(objective);
  const Eigen::Vector2d x(1, 2);
  EXPECT_EQ(checked.num_parameters(), 2);
  EXPECT_EQ(checked.num_samples(), 2);
  EXPECT_EQ(checked.parameter_blocks().data(), objective.parameter_blocks().data());
  EXPECT_EQ(checked.value(x), objective.value(x));
  EXPECT_EQ(checked.gradient(x), objective.gradient(x));
  EXPECT_EQ(checked.hessian(x), 1.5 * a);
  EXPECT_EQ(checked.hessian_columns(x, checked.all_samples(), 1, 1), Matrix::Constant(1, 1, 4.5));
  EXPECT_THROW(checked.gauss_newton(x), PreconditionError);  // as the objective does
}

TEST(CheckedObjective, RefusesObjectivesOfNothing) {
  const test::QuadraticObjective nothing({Matrix(0, 0)});
  EXPECT_THROW(CheckedObjective{nothing}, PreconditionError);
  const test::QuadraticObjective odd(
      {Matrix::Identity(3, 3)}, Vector::Zero(3), 0, {{"theta", {2}, 0, 2}});
  EXPECT_THROW(CheckedObjective{odd}, PreconditionError);
}

}  // namespace
}  // namespace hesscope
