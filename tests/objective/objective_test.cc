// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/objective.h>

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

  ValueAndGradient do_value_and_gradient(const ConstVectorRef&, SampleRange) const override {
    return {0, Vector::Zero(2)};
  }

  Matrix do_hessian_times(const ConstVectorRef&,
                          const ConstMatrixRef& directions,
                          SampleRange) const override {
    return Matrix::Zero(2, directions.cols());
  }

  Matrix do_hessian(const ConstVectorRef&, SampleRange, const ProgressCallback&) const override {
    return Matrix::Identity(2, 2);
  }

  Matrix do_hessian_columns(const ConstVectorRef&,
                            SampleRange,
                            Eigen::Index,
                            Eigen::Index) const override {
    return Matrix::Identity(2, 2);
  }

  Matrix do_per_sample_gradients(const ConstVectorRef&, SampleRange range) const override {
    return Matrix::Zero(2, range.size());
  }

  Matrix do_per_sample_hessian_times(const ConstVectorRef&,
                                     const ConstMatrixRef&,
                                     SampleRange) const override {
    return Matrix::Zero(3, 1);
  }

  bool has_gauss_newton() const override { return true; }

  bool has_third_derivatives() const override { return true; }

  Matrix do_gauss_newton_times(const ConstVectorRef&,
                               const ConstMatrixRef& directions,
                               SampleRange) const override {
    return Matrix::Zero(2, directions.cols());
  }

  Matrix do_gauss_newton(const ConstVectorRef&,
                         SampleRange,
                         const ProgressCallback&) const override {
    return Matrix::Zero(3, 2);
  }

  Matrix do_predictions(const ConstVectorRef&, SampleRange) const override {
    return Matrix::Zero(1, 1);
  }

  Matrix do_prediction_jacobian(const ConstVectorRef&, SampleRange) const override {
    return Matrix::Zero(3, 3);
  }

  Matrix do_third_derivative_times(const ConstVectorRef&,
                                   const ConstMatrixRef&,
                                   const ConstMatrixRef& v,
                                   SampleRange) const override {
    return Matrix::Zero(2, v.cols());
  }

  Matrix do_line_derivatives(const ConstVectorRef&,
                             const ConstMatrixRef& directions,
                             SampleRange) const override {
    return Matrix::Zero(kLineOrder, directions.cols());
  }
};

TEST(Objective, RefusesAnswersOfOtherSizesByMember) {
  const Mistaken mistaken;
  const Vector x = Vector::Zero(3);
  const Matrix v = Matrix::Identity(3, 2);
  const SampleRange all = mistaken.all_samples();
  const auto refuses = [](auto call, const char* why) {
    EXPECT_THAT(call, ThrowsMessage<PreconditionError>(HasSubstr(why)));
  };
  refuses([&] { mistaken.gradient(x); }, "value_and_gradient() returned a gradient of 2 entries");
  refuses([&] { mistaken.hessian(x); },
          "hessian() returned a matrix of 2 x 2, which must be 3 x 3");
  refuses([&] { mistaken.hessian_times(x, v); }, "hessian_times() returned a matrix of 2 x 2");
  refuses([&] { mistaken.hessian_columns(x, all, 0, 2); }, "hessian_columns() returned");
  refuses([&] { mistaken.per_sample_gradients(x, all); }, "per_sample_gradients() returned");
  refuses([&] { mistaken.per_sample_hessian_times(x, v, all); }, "3 x 1, which must be 3 x 2");
  refuses([&] { mistaken.gauss_newton(x); }, "gauss_newton() returned");
  refuses([&] { mistaken.gauss_newton_times(x, v); }, "gauss_newton_times() returned");
  refuses([&] { mistaken.predictions(x, all); }, "one of 2 columns, one for each sample");
  refuses([&] { mistaken.prediction_jacobian(x, all); }, "as many rows for each of 2 samples");
  refuses([&] { mistaken.third_derivative_times(x, v, v); }, "third_derivative_times() returned");
  refuses([&] { mistaken.line_derivatives(x, v); }, "line_derivatives() returned");
}

TEST(Objective, PassesOnWhatFits) {
  const Matrix a = Eigen::Vector2d(1, 3).asDiagonal();
  const test::QuadraticObjective objective({a, 2 * a}, Eigen::Vector2d(1, 0), 5);
  const Eigen::Vector2d x(1, 2);
  EXPECT_EQ(objective.num_parameters(), 2);
  EXPECT_EQ(objective.num_samples(), 2);
  EXPECT_EQ(objective.value(x), 5 + 1 + 0.5 * 1.5 * 13);
  EXPECT_EQ(objective.gradient(x), Eigen::Vector2d(2.5, 9));
  EXPECT_EQ(objective.hessian(x), 1.5 * a);
  EXPECT_EQ(objective.hessian_columns(x, objective.all_samples(), 1, 1),
            Matrix::Constant(1, 1, 4.5));
  EXPECT_THROW(objective.gauss_newton(x), PreconditionError);  // as the objective does
}

// The objective itself does not look at its arguments.
TEST(Objective, RefusesArgumentsThatDoNotFit) {
  const test::QuadraticObjective objective({Matrix::Identity(3, 3), Matrix::Identity(3, 3)});
  const Vector x = Vector::Zero(3);
  const Matrix v = Matrix::Identity(3, 2);
  const SampleRange all = objective.all_samples();
  const auto refuses = [](auto call, const char* why) {
    EXPECT_THAT(call, ThrowsMessage<PreconditionError>(HasSubstr(why)));
  };
  refuses([&] { objective.value(Vector::Zero(2)); }, "value: theta must have 3 entries, got 2");
  refuses([&] { objective.gradient(x, {1, 3}); }, "[1, 3) is not a non-empty range of the 2");
  refuses([&] { objective.hessian(x, {1, 1}); }, "hessian: [1, 1) is not a non-empty range");
  refuses([&] { objective.sample_weight({-1, 1}); }, "sample_weight: [-1, 1)");
  refuses([&] { objective.hessian_times(x, Matrix::Zero(2, 2)); }, "must have 3 rows, got 2");
  refuses([&] { objective.hessian_columns(x, all, 2, 2); }, "2 columns from 2 on are not some");
  refuses([&] { objective.per_sample_hessian_times(x, v.leftCols(1), all); }, "got 3 x 1");
  refuses([&] { objective.with_ranks(x, {0, 3}, [] {}); }, "with_ranks: [0, 3)");
  refuses([&] { objective.third_derivative_times(x, v, v); }, "knows its third derivatives");
  refuses([&] { objective.line_derivatives(x, v); }, "knows its third derivatives");
  refuses([&] { objective.gauss_newton(x); }, "needs an objective that declares a prediction");
  refuses([&] { objective.predictions(x, all); }, "predictions need an objective that declares");
}

TEST(Objective, RefusesToAnswerWhatItClaimsAndDoesNotOverride) {
  class Claims final : public test::QuadraticObjective {
   public:
    Claims() : QuadraticObjective({Matrix::Identity(1, 1)}) {}

    bool has_gauss_newton() const override { return true; }

    bool has_third_derivatives() const override { return true; }
  };

  const Claims objective;
  const Vector x = Vector::Zero(1);
  EXPECT_THAT([&] { objective.gauss_newton(x); },
              ThrowsMessage<PreconditionError>(HasSubstr("do_gauss_newton() must be overridden")));
  EXPECT_THAT(
      [&] { objective.line_derivatives(x, x); },
      ThrowsMessage<PreconditionError>(HasSubstr("do_line_derivatives() must be overridden")));
}

TEST(Objective, RefusesObjectivesOfNothing) {
  const test::QuadraticObjective nothing({Matrix(0, 0)});
  EXPECT_THROW(require_objective(nothing), PreconditionError);
  const test::QuadraticObjective odd(
      {Matrix::Identity(3, 3)}, Vector::Zero(3), 0, {{"theta", {2}, 0, 2}});
  EXPECT_THROW(require_objective(odd), PreconditionError);
}

}  // namespace
}  // namespace hesscope
