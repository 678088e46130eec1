// SPDX-License-Identifier: BSD-3-Clause
//
// Where what PyTorch computes is not what a file says to the letter, and at kinks.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using test::expect_computes;
using test::OperatorFixture;

// sqrt(theta' theta) has an infinite slope at 0, as a row has that ReLU has switched off.
TEST(ReduceL2, OfARowOfZerosHasNoSlope) {
  OperatorFixture op("ReduceL2");
  const Var on = op.graph().parameter(0, 3, 1);
  const Var off = relu(-square(on));
  const Var rows = gather(on, off, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, 2, 3);
  op.value({.axes = onnx::plain_axes({2, 3}), .var = rows}).with("axes", {1}).with("keepdims", 0);
  expect_computes(op, op.result(), [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    using std::sqrt;
    T squares(0.0);
    for (int e = 0; e < 3; ++e) squares += theta(e) * theta(e);
    return std::vector<T>{T(sqrt(squares)), T(0.0)};
  });
}

}  // namespace
}  // namespace hesscope
