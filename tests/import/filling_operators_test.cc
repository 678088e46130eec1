// SPDX-License-Identifier: BSD-3-Clause
//
// Orders of known numbers, and places that data tell.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::add_indices;
using test::expect_computes;
using test::expect_refused;
using test::index_at;
using test::OperatorFixture;
using WholeNumbers = std::vector<std::int64_t>;

TEST(TopK, OrdersKnownNumbers) {
  OperatorFixture op("TopK");
  op.with("axis", 0).numbers({3, 2}, {1, 6, 5, 2, 3, 4}).integers({1}, {2});
  const onnx::Values both = op.results();
  const auto values = op.graph().constant_value(*both[0].var);
  EXPECT_EQ(std::vector<double>(values.begin(), values.end()), (std::vector<double>{5, 6, 3, 4}));
  EXPECT_EQ(both[1].integers->base, (WholeNumbers{1, 0, 2, 2}));
  OperatorFixture least("TopK");
  least.with("largest", 0).integers({4}, {3, 1, 1, 2}).integers({1}, {3});
  EXPECT_EQ(least.results()[0].integers->base, (WholeNumbers{1, 1, 2}));
  EXPECT_EQ(least.results()[1].integers->base, (WholeNumbers{1, 2, 3}));
  OperatorFixture varying("TopK");
  varying.parameter({3}).integers({1}, {1});
  expect_refused(varying,
                 "largest, and that changes by jumps; only constants and shapes are taken");
  OperatorFixture least_varying("TopK");
  least_varying.with("largest", 0).parameter({3}).integers({1}, {1});
  expect_refused(least_varying, "its result depends on which entries of input 1 are smallest");
}

TEST(ArgMax, TakesTheFirstOrTheLastOfSeveral) {
  OperatorFixture first("ArgMax");
  first.with("axis", 1).with("keepdims", 0).integers({2, 3}, {1, 3, 3, 2, 1, 2});
  EXPECT_EQ(first.result().integers->base, (WholeNumbers{1, 0}));
  OperatorFixture last("ArgMin");
  last.with("axis", -1).with("select_last_index", 1).integers({1, 3}, {1, 3, 1});
  EXPECT_EQ(last.result().integers->base, (WholeNumbers{2}));
  EXPECT_EQ(text(last.result().axes), "(1, 1)");
  OperatorFixture empty("ArgMax");
  empty.integers({0, 2}, {});
  expect_refused(empty, "without entries");
  OperatorFixture samples("ArgMax");
  samples.with("axis", 0).data({3});
  expect_refused(samples, "it compares entries along axis 0 of (N, 3), the batch (N)");
  OperatorFixture varying("ArgMin");
  varying.parameter({3});
  expect_refused(varying, "its result depends on which entries of input 1 are smallest");
  expect_refused(varying, "export the model without this node");
}

// Of data no derivative is asked for: the place of the end of a text, as CLIP finds it.
TEST(ArgMax, OfDataIsAPlaceInEachSample) {
  for (const bool takes_last : {false, true}) {
    for (const bool is_largest : {false, true}) {
      OperatorFixture op(is_largest ? "ArgMax" : "ArgMin");
      op.with("axis", 1).with("keepdims", 0).with("select_last_index", takes_last ? 1 : 0);
      add_indices(op, {4, 2}, 3);  // with several of a kind
      const onnx::Value y = op.result();
      EXPECT_EQ(y.kind, onnx::ElementKind::kInteger);
      EXPECT_EQ(text(y.axes), "(N, 2)");
      expect_computes(op, y, [&](const auto& theta, const double* x) {
        using T = typename std::decay_t<decltype(theta)>::Scalar;
        std::vector<T> result;
        for (int col = 0; col < 2; ++col) {
          int best = 0;
          for (int row = 1; row < 4; ++row) {
            const Eigen::Index a = index_at(x[2 * row + col], 3);
            const Eigen::Index b = index_at(x[2 * best + col], 3);
            if ((is_largest ? a > b : a < b) || (takes_last && a == b)) best = row;
          }
          result.push_back(T(static_cast<double>(best)));
        }
        return result;
      });
    }
  }
}

}  // namespace
}  // namespace hesscope
