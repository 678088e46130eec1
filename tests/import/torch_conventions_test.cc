// SPDX-License-Identifier: BSD-3-Clause
//
// Where PyTorch's results differ from what a file says literally, and at kinks.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using test::expect_computes;
using test::OperatorFixture;

// A row of parameters, and one of zeros that ReLU has switched off: sqrt(x' x) has an infinite
// slope there.
Var row_beside_zeros(Graph& graph) {
  const Var on = graph.parameter(0, 3, 1);
  const Var off = relu(-square(on));
  return gather(on, off, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, 2, 3);
}

// The lengths of those two rows.
const auto lengths_beside_zeros = [](const auto& theta, const double*) {
  using T = typename std::decay_t<decltype(theta)>::Scalar;
  using std::sqrt;
  T squares(0.0);
  for (int e = 0; e < 3; ++e) squares += theta(e) * theta(e);
  return std::vector<T>{T(sqrt(squares)), T(0.0)};
};

// Norms as PyTorch 1.13 writes them, and deviations: sqrt(mean(x^2)) n / (n - 1), of centred x.
TEST(Sqrt, OfASumOfSquaresThatIsZeroHasNoSlope) {
  using Square = Var (*)(Var);
  for (const Square squared : {Square([](Var x) { return square(x); }),
                               Square([](Var x) { return hadamard(x, x); }),
                               Square([](Var x) { return power(x, 2); })}) {
    OperatorFixture op("Sqrt");
    const Var sums = sum_rows(squared(row_beside_zeros(op.graph())));
    const Var three = op.graph().constant(Eigen::MatrixXd::Constant(1, 1, 3));
    const Var two = op.graph().constant(Eigen::MatrixXd::Constant(1, 1, 2));
    const Var variances = hadamard(1.0 / 3.0 * sums, three) / two;
    op.value({.axes = onnx::plain_axes({2}), .var = reshape(variances, 1, 2)});
    expect_computes(op, op.result(), [](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      using std::sqrt;
      T squares(0.0);
      for (int e = 0; e < 3; ++e) squares += theta(e) * theta(e);
      return std::vector<T>{T(sqrt(squares / 2.0)), T(0.0)};
    });
  }
}

// Columns that are gathered to be summed, and powers, as vector_norm() is exported.
TEST(Pow, ToAHalfOfASumOfSquaresThatIsZeroHasNoSlope) {
  OperatorFixture op("Pow");
  const std::vector<std::int32_t> transposed = {0, 3, 1, 4, 2, 5};
  const std::vector<std::int32_t> back = {0, 2, 4, 1, 3, 5};
  const Var columns = gather(row_beside_zeros(op.graph()), transposed, 3, 2);
  const Var sums = sum_rows(gather(square(abs(columns)), back, 2, 3));
  op.value({.axes = onnx::plain_axes({2}), .var = reshape(sums, 1, 2)}).numbers({}, {0.5});
  expect_computes(op, op.result(), lengths_beside_zeros);
}

// |x|^2 |y|^2, as below a cosine.
TEST(Sqrt, OfAProductOfSumsOfSquaresThatIsZeroHasNoSlope) {
  OperatorFixture op("Sqrt");
  const Var sums = sum_rows(square(row_beside_zeros(op.graph())));
  const Var others = sum_rows(square(op.graph().constant(Eigen::MatrixXd::Constant(2, 2, 3))));
  op.value({.axes = onnx::plain_axes({2}), .var = hadamard(sums, others)});
  expect_computes(op, op.result(), [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    using std::sqrt;
    T squares(0.0);
    for (int e = 0; e < 3; ++e) squares += theta(e) * theta(e);
    return std::vector<T>{T(sqrt(18.0 * squares)), T(0.0)};
  });
}

TEST(ReduceL2, OfARowOfZerosHasNoSlope) {
  OperatorFixture op("ReduceL2");
  const Var rows = row_beside_zeros(op.graph());
  op.value({.axes = onnx::plain_axes({2, 3}), .var = rows}).with("axes", {1}).with("keepdims", 0);
  expect_computes(op, op.result(), lengths_beside_zeros);
}

TEST(PRelu, HasItsOwnSlopeAtZero) {
  OperatorFixture op("PRelu");
  const onnx::Value y = op.parameter({3}).numbers({}, {0.25}).result();
  op.graph().set_output(sum(*y.var));
  const std::vector<double> theta = {-2, 0, 3};
  std::vector<double> gradient(3);
  const double value =
      Sweep::create(op.graph())->value_and_gradient(theta, {.data = nullptr, .count = 1}, gradient);
  EXPECT_EQ(value, 2.5);
  EXPECT_EQ(gradient, (std::vector<double>{0.25, 0.25, 1}));
}

}  // namespace
}  // namespace hesscope
