// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

ConditionNumbers of_diagonal(const Eigen::VectorXd& diagonal) {
  return condition_numbers(diagonal, dense_spectrum(diagonal.asDiagonal().toDenseMatrix()));
}

void expect_undefined(const Statistic& number, Status status) {
  EXPECT_TRUE(std::isnan(number.value)) << number.value;
  EXPECT_EQ(number.status, status) << to_string(number.status);
}

void expect_value(const Statistic& number, double value) {
  EXPECT_EQ(number.status, Status::kOk) << to_string(number.status);
  EXPECT_NEAR(number.value / value, 1.0, 1e-14);
}

TEST(ConditionNumbers, OfAPositiveDefiniteDiagonalAreItsRatios) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d(8, 0.5, 2));
  expect_value(numbers.robust_diagonal, 4);
  expect_value(numbers.robust_eigenvalue, 4);
  expect_value(numbers.robust_absolute, 4);
  expect_value(numbers.classical, 16);
}

TEST(ConditionNumbers, TakeTheLowerMedianOfAnEvenNumber) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector4d(1, 2, 4, 32));
  expect_value(numbers.robust_diagonal, 16);
  expect_value(numbers.robust_eigenvalue, 16);
  expect_value(numbers.robust_absolute, 16);
  expect_value(numbers.classical, 32);
}

TEST(ConditionNumbers, UseMagnitudesWhereTheirDefinitionSaysSo) {
  // Ascending -32, 1, 4; magnitudes 1, 4, 32.
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d(4, -32, 1));
  expect_value(numbers.robust_diagonal, 8);
  expect_value(numbers.robust_eigenvalue, 4);
  expect_value(numbers.robust_absolute, 8);
  expect_undefined(numbers.classical, Status::kUndefinedNotPositiveDefinite);
}

TEST(ConditionNumbers, TheDiagonalAndTheEigenvaluesDiffer) {
  // [[2, 1], [1, 2]]: eigenvalues 1 and 3; a constant diagonal.
  const Eigen::Matrix2d h{{2, 1}, {1, 2}};
  const ConditionNumbers numbers = condition_numbers(h.diagonal(), dense_spectrum(h));
  expect_value(numbers.robust_diagonal, 1);
  expect_value(numbers.robust_eigenvalue, 3);
  expect_value(numbers.robust_absolute, 3);
  expect_value(numbers.classical, 3);
}

TEST(ConditionNumbers, ANegativeMedianGivesANegativeRatio) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d(-2, -1, 6));
  expect_value(numbers.robust_eigenvalue, -6);
  expect_value(numbers.robust_absolute, 3);
  expect_undefined(numbers.classical, Status::kUndefinedNotPositiveDefinite);
}

TEST(ConditionNumbers, AZeroMedianIsUndefinedNotHuge) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d(0, 0, 5));
  expect_undefined(numbers.robust_diagonal, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.robust_eigenvalue, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.robust_absolute, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.classical, Status::kUndefinedNotPositiveDefinite);
}

TEST(ConditionNumbers, AMedianWithinRoundingOfZeroIsZero) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d(1e-17, -1e-17, 5));
  expect_undefined(numbers.robust_eigenvalue, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.classical, Status::kUndefinedNotPositiveDefinite);
}

TEST(ConditionNumbers, OfTheZeroMatrixAreUndefined) {
  const ConditionNumbers numbers = of_diagonal(Eigen::Vector3d::Zero());
  expect_undefined(numbers.robust_diagonal, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.robust_eigenvalue, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.robust_absolute, Status::kUndefinedZeroMedian);
  expect_undefined(numbers.classical, Status::kUndefinedNotPositiveDefinite);
}

TEST(ConditionNumbers, OfASingleParameterAreOne) {
  const ConditionNumbers numbers = of_diagonal(Eigen::VectorXd::Constant(1, 3.0));
  expect_value(numbers.robust_diagonal, 1);
  expect_value(numbers.robust_eigenvalue, 1);
  expect_value(numbers.robust_absolute, 1);
  expect_value(numbers.classical, 1);
}

TEST(ConditionNumbers, DoNotDependOnTheScale) {
  for (const double scale : {1e-200, 1e-20, 1.0, 1e20, 1e200}) {
    const ConditionNumbers numbers = of_diagonal(scale * Eigen::Vector3d(8, 0.5, 2));
    expect_value(numbers.robust_diagonal, 4);
    expect_value(numbers.robust_eigenvalue, 4);
    expect_value(numbers.classical, 16);
  }
}

TEST(ConditionNumbers, TakeTheStatusOfASpectrumThatIsNotThere) {
  const Eigen::Vector3d diagonal(1, kNaN, 2);
  const ConditionNumbers numbers = of_diagonal(diagonal);
  for (const Statistic& number : {numbers.robust_diagonal,
                                  numbers.robust_eigenvalue,
                                  numbers.robust_absolute,
                                  numbers.classical}) {
    expect_undefined(number, Status::kNonFinite);
  }
  Spectrum failed;
  failed.status = Status::kFailed;
  expect_undefined(condition_numbers(Eigen::Vector3d(1, 2, 3), failed).classical, Status::kFailed);
}

TEST(ConditionNumbers, OfAnotherDiagonalThanTheSpectrumsAreRefused) {
  const Spectrum spectrum = dense_spectrum(Eigen::Matrix3d::Identity());
  EXPECT_THROW(condition_numbers(Eigen::VectorXd(), spectrum), PreconditionError);
  EXPECT_THROW(condition_numbers(Eigen::Vector2d(1, 1), spectrum), PreconditionError);
}

TEST(ConditionNumbers, OfAnEmptyDiagonalWithoutSpectrumAreNotComputed) {
  expect_undefined(condition_numbers(Eigen::VectorXd(), Spectrum()).robust_diagonal,
                   Status::kNotComputed);
}

}  // namespace
}  // namespace hesscope
