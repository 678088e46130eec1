// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that order entries, or say where the largest are.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>

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
}

// Neighbours that are one double.
TEST(OrderOperators, TellIntegersOf64BitsApart) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  OperatorFixture largest("ArgMax");
  largest.integers({3}, {kLarge, kLarge + 1, kLarge});
  EXPECT_EQ(largest.result().integers->base, (WholeNumbers{1}));
  OperatorFixture least("ArgMin");
  least.integers({2}, {-kLarge, -kLarge - 1});
  EXPECT_EQ(least.result().integers->base, (WholeNumbers{1}));
  OperatorFixture top("TopK");
  top.integers({3}, {kLarge, kLarge + 2, kLarge + 1}).integers({1}, {3});
  EXPECT_EQ(top.results()[0].integers->base, (WholeNumbers{kLarge + 2, kLarge + 1, kLarge}));
}

// The k largest or smallest of each line of 4 and where they are from, equal ones in their order.
template <typename T>
std::vector<std::vector<int>> places_in_order(const std::vector<T>& x, bool takes_largest, int k) {
  std::vector<std::vector<int>> lines;
  for (std::size_t first = 0; first < x.size(); first += 4) {
    std::vector<int> places = {0, 1, 2, 3};
    std::ranges::stable_sort(places, [&](int a, int b) {
      const T& p = x[first + static_cast<std::size_t>(a)];
      const T& q = x[first + static_cast<std::size_t>(b)];
      return takes_largest ? q < p : p < q;
    });
    places.resize(static_cast<std::size_t>(k));
    lines.push_back(places);
  }
  return lines;
}

// Two lines of 4, theta times what each sample has.
onnx::Values top_of_computed(OperatorFixture& op, bool takes_largest, int k) {
  Graph& graph = op.graph();
  op.with("largest", takes_largest ? 1 : 0).with("axis", -1);
  op.value({.axes = {onnx::kBatchAxis, {.size = 2}, {.size = 4}},
            .var = hadamard(graph.parameter(0, 8, 1), graph.input(0, 8, 1))});
  return op.integers({1}, {k}).results();
}

TEST(TopK, OrdersWhatAModelComputes) {
  for (const bool takes_largest : {true, false}) {
    for (const int k : {1, 3, 4}) {
      SCOPED_TRACE(k);
      const auto computed = [](const auto& theta, const double* record) {
        using T = typename std::decay_t<decltype(theta)>::Scalar;
        std::vector<T> x;
        for (int i = 0; i < 8; ++i) x.push_back(theta(i) * record[i]);
        return x;
      };
      OperatorFixture op("TopK");
      const onnx::Value values = top_of_computed(op, takes_largest, k)[0];
      EXPECT_EQ(text(values.axes), "(N, 2, " + std::to_string(k) + ")");
      expect_computes(op, values, [=](const auto& theta, const double* record) {
        const auto x = computed(theta, record);
        const auto lines = places_in_order(x, takes_largest, k);
        std::decay_t<decltype(x)> result;
        for (std::size_t line = 0; line < 2; ++line) {
          for (const int place : lines[line]) {
            result.push_back(x[4 * line + static_cast<std::size_t>(place)]);
          }
        }
        return result;
      });
      OperatorFixture places("TopK");
      const onnx::Value from = top_of_computed(places, takes_largest, k)[1];
      EXPECT_EQ(from.kind, onnx::ElementKind::kInteger);
      expect_computes(places, from, [=](const auto& theta, const double* record) {
        const auto x = computed(theta, record);
        std::decay_t<decltype(x)> result;
        for (const auto& line : places_in_order(x, takes_largest, k)) {
          for (const int place : line) result.push_back(static_cast<double>(place));
        }
        return result;
      });
    }
  }
}

TEST(TopK, TakesEqualEntriesInTheirOrderAndInfiniteOnes) {
  OperatorFixture op("TopK");
  op.with("axis", 1);
  add_indices(op, {4}, 2);  // with several of a kind
  expect_computes(op, op.integers({1}, {4}).results()[1], [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> numbers;
    for (int i = 0; i < 4; ++i) numbers.push_back(T(static_cast<double>(index_at(x[i], 2))));
    const auto lines = places_in_order(numbers, true, 4);
    std::vector<T> result;
    for (const int place : lines[0]) {
      result.push_back(T(static_cast<double>(place)));
    }
    return result;
  });
  OperatorFixture masked("TopK");  // x1, -infinity
  Graph& graph = masked.graph();
  const std::vector<double> mask = {0, -kInfinity};
  masked.value({.axes = {onnx::kBatchAxis, {.size = 2}},
                .var = graph.parameter(0, 2, 1) + graph.constant(mask, 2, 1)});
  expect_computes(masked, masked.integers({1}, {1}).results()[0], [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0)};
  });
}

TEST(TopK, RefusesToOrderSamples) {
  OperatorFixture op("TopK");
  op.with("axis", 0).data({3}).integers({1}, {1});
  expect_refused(op, "it compares entries along axis 0 of (N, 3), the batch (N)");
  OperatorFixture more("TopK");
  more.data({3}).integers({1}, {4});
  expect_refused(more, "k must be one number of at most 3");
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
}

// As TopK with k = 1: between jumps the place stays.
TEST(ArgMax, OfParametersHasNoSlope) {
  for (const bool is_largest : {false, true}) {
    OperatorFixture op(is_largest ? "ArgMax" : "ArgMin");
    const onnx::Value y = op.with("axis", 1).with("keepdims", 0).parameter({2, 3}).result();
    expect_computes(op, y, [&](const auto& theta, const double* /*x*/) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      std::vector<T> result;
      for (int row = 0; row < 2; ++row) {
        int best = 0;
        for (int col = 1; col < 3; ++col) {
          const T a = theta[3 * row + col];
          const T b = theta[3 * row + best];
          if (is_largest ? a > b : a < b) best = col;
        }
        result.push_back(T(static_cast<double>(best)));
      }
      return result;
    });
  }
}

// Data need no derivatives: the place of the end of a text, as CLIP finds it.
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
