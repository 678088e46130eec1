// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/operators.h>

#include "support/matrices.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// sum_i exp(theta_i) + (a^T theta)^2, with a = (1, 2, 3, ...): a Hessian known in closed form.
struct Loss {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
    using std::exp;
    T sum(0.0);
    T along(0.0);
    for (Eigen::Index i = 0; i < theta.size(); ++i) {
      sum += exp(theta(i));
      along += static_cast<double>(i + 1) * theta(i);
    }
    return static_cast<double>(sample) * sum + along * along;
  }
};

void expect_is(const SymmetricOperator& op, const MatrixXd& expected) {
  ASSERT_EQ(op.rows(), expected.rows());
  const MatrixXd all = op.apply(MatrixXd::Identity(op.rows(), op.rows()));
  EXPECT_LE((all - expected).norm(), 1e-13 * expected.norm());
  const VectorXd v = test::random_matrix(op.rows(), 1, 5);
  EXPECT_LE((op.apply(v) - expected * v).norm(), 1e-13 * expected.norm() * v.norm());
}

TEST(MatrixOperator, ReadsTheLowerTriangle) {
  const MatrixXd h = test::random_symmetric(17, 1);
  MatrixXd lower = h;
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(kNaN);
  expect_is(MatrixOperator(lower), h);
}

TEST(MatrixOperator, AcceptsAWindowOfALargerMatrix) {
  const MatrixXd h = test::random_symmetric(20, 2);
  expect_is(MatrixOperator(h.block(4, 4, 9, 9)), h.block(4, 4, 9, 9));
}

// What is refilled where a temporary was would be seen.
TEST(MatrixOperator, KeepsWhatNobodyElseDoes) {
  const MatrixXd h = test::random_symmetric(60, 3);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = h;
  const MatrixOperator moved{MatrixXd(h)};
  const MatrixOperator transposed(h.transpose());
  const MatrixOperator row_major(rows);
  const MatrixOperator sum(h + h);
  const std::vector<MatrixXd> others(8, MatrixXd::Constant(60, 60, kNaN));
  expect_is(moved, h);
  expect_is(transposed, h);
  expect_is(row_major, h);
  expect_is(sum, 2 * h);
}

TEST(MatrixOperator, RefersToAMatrixAndToWhatARefRefersTo) {
  MatrixXd h = MatrixXd::Identity(3, 3);
  const MatrixOperator of_matrix(h);
  const Eigen::Ref<const MatrixXd> block(h.topLeftCorner(2, 2));
  const MatrixOperator of_block(block);
  h *= 5;
  expect_is(of_matrix, 5 * MatrixXd::Identity(3, 3));
  expect_is(of_block, 5 * MatrixXd::Identity(2, 2));
}

// An operator of a user.
TEST(SymmetricOperator, RefusesAProductOfAnotherSize) {
  class Mistaken final : public SymmetricOperator {
   public:
    Eigen::Index rows() const override { return 3; }

   protected:
    MatrixXd product(const Eigen::Ref<const MatrixXd>&) const override {
      return MatrixXd::Zero(1, 1);
    }
  };

  EXPECT_THROW(Mistaken().apply(MatrixXd::Identity(3, 2)), PreconditionError);
}

TEST(HessianOperator, IsTheHessianOverTheRange) {
  const auto objective = make_objective(Loss{}, 6, 10);
  const VectorXd theta = test::random_matrix(6, 1, 3);
  const SampleRange range{2, 5};  // mean sample index 3
  const VectorXd a = VectorXd::LinSpaced(6, 1.0, 6.0);
  MatrixXd expected = 2.0 * a * a.transpose();
  expected.diagonal() += 3.0 * theta.array().exp().matrix();
  expect_is(HessianOperator(objective, theta, range), expected);
}

TEST(GaussNewtonOperator, IsTheHessianWithoutItsResidualPart) {
  const Model model = mlp({.widths = {2, 3, 2}, .loss = MlpLoss::kMeanSquaredError});
  const SampleTable samples = test::random_matrix(20, model.record_size(), 11);
  const GraphObjective objective(model, samples);
  const VectorXd theta = test::random_matrix(model.num_parameters(), 1, 12);
  const SampleRange range{3, 17};
  const MatrixXd h = objective.hessian(theta, range, {});
  const MatrixXd g = objective.gauss_newton(theta, range, {});
  EXPECT_GT((h - g).norm(), 0.1 * h.norm());
  expect_is(GaussNewtonOperator(objective, theta, range), g);
  expect_is(ResidualOperator(objective, theta, range), h - g);
  expect_is(GaussNewtonOperator(objective, theta), objective.gauss_newton(theta));
  expect_is(ResidualOperator(objective, theta),
            objective.hessian(theta) - objective.gauss_newton(theta));
}

TEST(BlockOperator, IsTheDiagonalBlock) {
  const MatrixXd h = test::random_symmetric(12, 4);
  const MatrixOperator whole(h);
  expect_is(BlockOperator(whole, 3, 5), h.block(3, 3, 5, 5));
}

TEST(PreconditionedOperator, ScalesBothSides) {
  const MatrixXd h = test::random_symmetric(8, 6);
  const VectorXd d = VectorXd::LinSpaced(8, 0.25, 9.0);
  const VectorXd s = d.cwiseSqrt().cwiseInverse();
  const MatrixOperator op(h);
  expect_is(PreconditionedOperator(op, d), s.asDiagonal() * h * s.asDiagonal());
}

TEST(PreconditionedOperator, HasZerosWhereTheDiagonalIsInfinite) {
  const MatrixXd h = test::random_symmetric(8, 6);
  VectorXd d = VectorXd::LinSpaced(8, 0.25, 9.0);
  d[0] = d[5] = kInfinity;
  const VectorXd s = d.cwiseSqrt().cwiseInverse();
  ASSERT_EQ(s[5], 0.0);
  const MatrixOperator op(h);
  expect_is(PreconditionedOperator(op, d), s.asDiagonal() * h * s.asDiagonal());
}

TEST(ShiftedOperator, ScalesAndShifts) {
  const MatrixXd h = test::random_symmetric(8, 7);
  const MatrixOperator op(h);
  expect_is(ShiftedOperator(op, -2.0, 3.0), -2.0 * h + 3.0 * MatrixXd::Identity(8, 8));
}

TEST(DeflatedOperator, MovesEigenvaluesAndKeepsTheRest) {
  VectorXd values(4);
  values << 1.0, 2.0, 3.0, 4.0;
  const MatrixXd h = values.asDiagonal();
  const MatrixOperator op(h);
  VectorXd moved = values;
  moved.tail(2).setConstant(-7.0);
  expect_is(DeflatedOperator(op, MatrixXd::Identity(4, 4).rightCols(2), -7.0),
            moved.asDiagonal().toDenseMatrix());
}

TEST(DeflatedOperator, ProjectsWhereTheVectorsAreNotEigenvectors) {
  const MatrixXd h = test::random_symmetric(9, 8);
  const MatrixXd q = MatrixXd::Identity(9, 9).leftCols(2);
  MatrixXd expected = h;
  expected.topRows(2).setZero();
  expected.leftCols(2).setZero();
  expected.topLeftCorner(2, 2).diagonal().setConstant(0.5);
  const MatrixOperator op(h);
  expect_is(DeflatedOperator(op, q, 0.5), expected);
}

TEST(SymmetricOperator, CountsCallsAndColumns) {
  const MatrixXd h = test::random_symmetric(5, 9);
  const MatrixOperator op(h);
  const ShiftedOperator shifted(op, 1.0, 1.0);
  shifted.apply(MatrixXd::Ones(5, 3));
  shifted.apply(VectorXd::Ones(5));
  EXPECT_EQ(op.num_calls(), 2);
  EXPECT_EQ(op.num_columns(), 4);
  EXPECT_EQ(shifted.num_columns(), 4);
}

TEST(SymmetricOperator, RefusesWhatDoesNotFit) {
  const MatrixXd h = test::random_symmetric(5, 10);
  const MatrixOperator op(h);
  EXPECT_THROW(op.apply(VectorXd::Ones(4)), PreconditionError);
  EXPECT_THROW(MatrixOperator(MatrixXd::Zero(2, 3)), PreconditionError);
  EXPECT_THROW(BlockOperator(op, 3, 3), PreconditionError);
  EXPECT_THROW(BlockOperator(op, -1, 2), PreconditionError);
  EXPECT_THROW(BlockOperator(op, 0, 0), PreconditionError);
  EXPECT_THROW(PreconditionedOperator(op, VectorXd::Ones(4)), PreconditionError);
  for (const double bad : {0.0, -1.0, kNaN, -kInfinity}) {
    VectorXd diagonal = VectorXd::Ones(5);
    diagonal[2] = bad;
    EXPECT_THROW(PreconditionedOperator(op, diagonal), PreconditionError) << bad;
  }
  EXPECT_THROW(DeflatedOperator(op, MatrixXd::Identity(4, 2), 0.0), PreconditionError);
  const auto objective = make_objective(Loss{}, 6, 10);
  EXPECT_THROW(HessianOperator(objective, VectorXd::Ones(5)), PreconditionError);
  EXPECT_THROW(HessianOperator(objective, VectorXd::Ones(6), {0, 11}), PreconditionError);
  const std::string what =
      ": the Gauss-Newton matrix needs an objective that declares a prediction";
  test::expect_refusal([&] { GaussNewtonOperator(objective, VectorXd::Ones(6)); },
                       "GaussNewtonOperator" + what);
  test::expect_refusal([&] { ResidualOperator(objective, VectorXd::Ones(6)); },
                       "ResidualOperator" + what);
}

}  // namespace
}  // namespace hesscope
