// SPDX-License-Identifier: BSD-3-Clause
//
// Determinants against Leibniz's sum over permutations, and where matrices are singular.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

// sum over permutations p of sign(p) prod_i a(i, p(i)).
template <typename T>
T leibniz(const std::vector<T>& a, int n) {
  std::vector<int> permutation(static_cast<std::size_t>(n));
  std::iota(permutation.begin(), permutation.end(), 0);
  T total(0.0);
  do {
    int inversions = 0;
    T product(1.0);
    for (std::size_t i = 0; i < permutation.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) inversions += permutation[j] > permutation[i] ? 1 : 0;
      product =
          product * a[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(permutation[i])];
    }
    total += inversions % 2 == 0 ? product : T(-product);
  } while (std::ranges::next_permutation(permutation).found);
  return total;
}

TEST(Det, IsThatOfLeibniz) {
  for (const int n : {1, 2, 3, 4}) {
    OperatorFixture op("Det");
    op.parameter({n, n});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "()");
    expect_computes(op, y, [&](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      return std::vector<T>{leibniz(std::vector<T>(theta.data(), theta.data() + theta.size()), n)};
    });
  }
}

TEST(Det, IsTakenOfEachMatrix) {
  OperatorFixture op("Det");
  op.data({2, 3, 3});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> both;
    for (int k = 0; k < 2; ++k) {
      both.push_back(leibniz(std::vector<T>(record + 9 * k, record + 9 * (k + 1)), 3));
    }
    return both;
  });
}

// For a matrix of rank n - 2, the slopes are 0 but the curvature is not.
TEST(Det, HasTheDerivativesOfAPolynomialWhereTheMatrixIsSingular) {
  OperatorFixture op("Det");
  const Var theta = op.graph().parameter(0, 2, 1);
  // a b of diag(1, a, b) at a = b = 0.
  const Var one = op.graph().constant(Eigen::MatrixXd::Ones(1, 1));
  const Var entries =
      gather(theta, one, std::vector<std::int32_t>{2, -1, -1, -1, 0, -1, -1, -1, 1}, 9, 1);
  const onnx::Value y = op.value({.axes = onnx::plain_axes({3, 3}), .var = entries}).result();
  op.graph().set_output(*y.var);
  const std::vector<double> origin = {0, 0};
  const std::vector<double> record = {0};
  std::vector<double> columns(4);
  Sweep::create(op.graph())
      ->curvature_columns(Curvature::kHessian, origin, {record.data(), 1, 1}, 0, 2, columns);
  EXPECT_EQ(columns, (std::vector<double>{0, 1, 1, 0}));
}

TEST(Det, OfTriangularMatricesIsTheProductOfTheDiagonal) {
  constexpr int kRows = 10;
  std::vector<double> entries(kRows * kRows);
  double product = 1;
  for (int i = 0; i < kRows; ++i) {
    for (int j = i; j < kRows; ++j) entries[static_cast<std::size_t>(i * kRows + j)] = 0.5 + i - j;
    product *= 0.5;
  }
  OperatorFixture op("Det");
  const onnx::Value y = op.numbers({kRows, kRows}, entries).result();
  EXPECT_EQ(op.graph().constant_value(*y.var).front(), product);
}

TEST(Det, RefusesWhatIsNoSquareMatrixOfASample) {
  OperatorFixture wide("Det");
  wide.parameter({2, 3});
  expect_refused(wide, "takes square matrices, got (2, 3)");
  OperatorFixture row("Det");
  row.parameter({2});
  expect_refused(row, "takes square matrices, got (2,)");
  OperatorFixture large("Det");
  large.parameter({13, 13});
  expect_refused(large, "takes matrices of up to 12 rows, got 13");
  OperatorFixture samples("Det");
  samples.data({1});
  expect_refused(samples, "its matrices have their rows along axis 0 of (N, 1), the batch");
}

}  // namespace
}  // namespace hesscope
