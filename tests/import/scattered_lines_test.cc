// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers put at places that the data tell.
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>
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
using ::testing::ElementsAre;
using ::testing::IsNan;

onnx::Axes axes_of_samples(const std::vector<std::int64_t>& shape) {
  onnx::Axes axes = onnx::plain_axes(shape);
  axes.insert(axes.begin(), onnx::kBatchAxis);
  return axes;
}

// The next entries of theta for each sample, as what a model has computed: (N, shape).
void add_computed(OperatorFixture& op, const std::vector<std::int64_t>& shape) {
  const onnx::Axes axes = axes_of_samples(shape);
  Graph& graph = op.graph();
  op.value({.axes = axes, .var = graph.parameter(graph.num_parameters(), size_of(axes), 1)});
}

// The same numbers for each sample.
void add_numbers(OperatorFixture& op,
                 const std::vector<std::int64_t>& shape,
                 const std::vector<double>& entries) {
  const auto size = static_cast<Eigen::Index>(entries.size());
  op.value({.axes = axes_of_samples(shape), .var = op.graph().constant(entries, size, 1)});
}

// Three entries of theta, of which five updates behind them hit those that the record names.
template <typename Join>
void expect_joined(const char* reduction, Join join) {
  OperatorFixture op("ScatterElements", 18);
  op.with("axis", 1).with("reduction", reduction);
  add_computed(op, {3});
  add_indices(op, {5}, 3);
  add_computed(op, {5});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3)");
  expect_computes(op, y, [join](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries = {theta(0), theta(1), theta(2)};
    for (int e = 0; e < 5; ++e) {
      T& entry = entries[static_cast<std::size_t>(index_at(record[e], 3))];
      entry = join(entry, T(theta(3 + e)));
    }
    return entries;
  });
}

TEST(ScatteredLines, AreJoinedByEachReduction) {
  expect_joined("add", [](auto a, auto b) -> decltype(b) { return a + b; });
  expect_joined("mul", [](auto a, auto b) -> decltype(b) { return a * b; });
  expect_joined("max", [](auto a, auto b) { return a < b ? b : a; });
  expect_joined("min", [](auto a, auto b) { return b < a ? b : a; });
}

// As messages are summed at the nodes of a graph: (N, nodes, features), edges in (N, edges,
// features).
TEST(ScatteredLines, LieAlongAnInnerAxis) {
  OperatorFixture op("ScatterElements", 18);
  op.with("axis", 1).with("reduction", "add");
  add_computed(op, {3, 2});
  add_indices(op, {4, 2}, 3);
  add_computed(op, {4, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 6; ++i) entries.push_back(theta(i));
    for (int e = 0; e < 4; ++e) {
      for (int f = 0; f < 2; ++f) {
        const auto node = static_cast<std::size_t>(index_at(record[2 * e + f], 3));
        entries[2 * node + static_cast<std::size_t>(f)] += theta(6 + 2 * e + f);
      }
    }
    return entries;
  });
}

TEST(ScatteredLines, ReplaceOneEntry) {
  OperatorFixture op("ScatterElements");
  op.with("axis", -1);
  add_computed(op, {4});
  add_indices(op, {1}, 4);
  add_computed(op, {1});
  expect_computes(op, op.result(), [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries = {theta(0), theta(1), theta(2), theta(3)};
    entries[static_cast<std::size_t>(index_at(record[0], 4))] = theta(4);
    return entries;
  });
}

// The last two of three updates may meet in one place; ONNX leaves open what stays there.
TEST(ScatteredLines, ReplaceSeveralEntriesThatDiffer) {
  OperatorFixture op("ScatterElements", 16);
  op.with("axis", 1);
  add_computed(op, {3});
  op.value({.kind = onnx::ElementKind::kInteger,
            .axes = axes_of_samples({3}),
            .var = op.graph().input(0, 3, 1)});
  add_computed(op, {3});
  op.graph().set_prediction(*op.result().var);
  const std::vector<double> theta = {1, 2, 3, 4, 5, 6};
  std::vector<double> entries(3);
  const auto put = [&](const std::vector<double>& record) {
    Graph graph = op.graph();
    graph.set_output(graph.constant({&theta[0], 1}, 1, 1));
    Sweep::create(graph)->predictions(theta, {record.data(), 1, 3}, entries);
    return entries;
  };
  EXPECT_EQ(put({2, 0, 1}), (std::vector<double>{5, 6, 4}));
  EXPECT_THAT(put({2, 0, 0}), ElementsAre(IsNan(), 2, 4));
}

// As several classes become zeros and ones.
TEST(ScatteredLines, AreGivenOneNumberHoweverOften) {
  OperatorFixture op("ScatterElements");
  op.with("axis", 1);
  add_computed(op, {3});
  add_indices(op, {4}, 3);
  add_numbers(op, {4}, {1, 1, 1, 1});
  expect_computes(op, op.result(), [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries = {theta(0), theta(1), theta(2)};
    for (int e = 0; e < 4; ++e) entries[static_cast<std::size_t>(index_at(record[e], 3))] = T(1.0);
    return entries;
  });
}

// In a graph for one sample: (3, 2) entries of theta, and two rows for places from the record.
TEST(ScatteredLines, AreSlicesToo) {
  for (const char* reduction : {"add", "max"}) {
    SCOPED_TRACE(reduction);
    const bool is_sum = std::string(reduction) == "add";
    OperatorFixture op("ScatterND", 18);
    Graph& graph = op.graph();
    const Var indices = elementary(Elementary::kFloor, 3.0 * abs(graph.input(0, 2, 1)));
    op.with("reduction", reduction).parameter({3, 2});
    op.value(
        {.kind = onnx::ElementKind::kInteger, .axes = onnx::plain_axes({2, 1}), .var = indices});
    const onnx::Value y = op.parameter({2, 2}).result();
    EXPECT_EQ(text(y.axes), "(3, 2)");
    expect_computes(op, y, [is_sum](const auto& theta, const double* record) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      std::vector<T> entries;
      for (int i = 0; i < 6; ++i) entries.push_back(theta(i));
      for (int s = 0; s < 2; ++s) {
        for (int f = 0; f < 2; ++f) {
          T& entry = entries[static_cast<std::size_t>(2 * index_at(record[s], 3) + f)];
          const T update = theta(6 + 2 * s + f);
          if (is_sum) {
            entry += update;
          } else if (entry < update) {
            entry = update;
          }
        }
      }
      return entries;
    });
  }
}

// Both numbers of a place come from data, as where a sample's own row is replaced.
TEST(ScatteredLines, AreAtPlacesOfSeveralNumbers) {
  OperatorFixture op("ScatterND");
  Graph& graph = op.graph();
  const Var indices = elementary(Elementary::kFloor, 2.0 * abs(graph.input(0, 2, 1)));
  op.parameter({2, 2, 2});
  op.value({.kind = onnx::ElementKind::kInteger, .axes = onnx::plain_axes({1, 2}), .var = indices});
  const onnx::Value y = op.parameter({1, 2}).result();
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 8; ++i) entries.push_back(theta(i));
    const auto place = 2 * (2 * index_at(record[0], 2) + index_at(record[1], 2));
    for (int f = 0; f < 2; ++f) entries[static_cast<std::size_t>(place + f)] = theta(8 + f);
    return entries;
  });
}

// The first of two lines with two entries each has an update at a place that does not exist.
TEST(ScatteredLines, AreNoNumbersWhereAPlaceIsNotThere) {
  for (const char* reduction : {"none", "add", "max"}) {
    SCOPED_TRACE(reduction);
    OperatorFixture op("ScatterElements", 18);
    op.with("axis", 2).with("reduction", reduction);
    add_numbers(op, {2, 2}, {5, 6, 7, 8});
    op.value({.kind = onnx::ElementKind::kInteger,
              .axes = axes_of_samples({2, 1}),
              .var = op.graph().input(0, 2, 1)});
    add_numbers(op, {2, 1}, {9, 9});
    const onnx::Value y = op.result();
    op.graph().set_prediction(*y.var);
    op.graph().set_output(sum(*y.var));
    for (const double missing : {2.0, -3.0, kNaN}) {
      const std::vector<double> record = {missing, -1};
      std::vector<double> entries(4);
      Sweep::create(op.graph())->predictions({}, {record.data(), 1, 2}, entries);
      EXPECT_TRUE(std::isnan(entries[0]));
      EXPECT_TRUE(std::isnan(entries[1]));
      EXPECT_EQ(entries[2], 7);
      EXPECT_EQ(entries[3], std::string(reduction) == "add" ? 17 : 9);
    }
  }
}

TEST(ScatteredLines, RefuseWhatOnnxLeavesOpenAndWhatDoesNotFit) {
  OperatorFixture several("ScatterElements", 14);
  several.with("axis", 1);
  add_computed(several, {3});
  add_indices(several, {2}, 3);
  add_computed(several, {2});
  expect_refused(several, "where several may meet: PyTorch writes sums so");
  OperatorFixture fewer("ScatterElements", 18);
  fewer.with("axis", 1).with("reduction", "add");
  add_computed(fewer, {3, 2});
  add_indices(fewer, {4, 1}, 3);
  add_computed(fewer, {4, 1});
  expect_refused(fewer, "must have the lengths of data (N, 3, 2) but along axis 1");
}

}  // namespace
}  // namespace hesscope
