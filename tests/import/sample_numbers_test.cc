// SPDX-License-Identifier: BSD-3-Clause
//
// x[arange(N), i] as exporters write it: Range over the batch, and what picks by it.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>

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

constexpr onnx::Axis kRows = {.size = 3, .has_batch = true};  // (3 N): three rows of each sample

constexpr onnx::Axis kTimes = {.size = 3, .has_batch = true, .before = 3};  // (3 N): three times

// Range(0, N, 1), times a factor.
onnx::Value sample_numbers(std::int64_t factor = 1) {
  OperatorFixture range("Range");
  range.integers({}, {0}).integers({}, {0}, {1}).integers({}, {1});
  OperatorFixture product("Mul");
  product.value(range.result()).integers({}, {factor});
  return product.result();
}

// The sum of these numbers and the indices that data tell, in the fixture's graph.
onnx::Value with_indices(OperatorFixture& op, const onnx::Value& numbers, std::int64_t count) {
  Graph& graph = op.graph();
  const Var entries = graph.input(graph.record_size(), 1, 1);
  const Var whole = elementary(Elementary::kFloor, static_cast<double>(count) * abs(entries));
  onnx::Value sum = {.kind = onnx::ElementKind::kInteger, .axes = {onnx::kBatchAxis}, .var = whole};
  sum.sample_numbers = numbers.sample_numbers;
  return sum;
}

// (n, i), with an index i among `count` that data tell, in the fixture's graph.
onnx::Value pair_with_index(OperatorFixture& op, std::int64_t count) {
  const onnx::Value index = with_indices(op, {}, count);
  const Var zero = op.graph().constant(Eigen::MatrixXd::Zero(1, 1));
  const Var both = gather(zero, *index.var, std::vector<std::int32_t>{0, 1}, 1, 2);
  onnx::Value pair = {
      .kind = onnx::ElementKind::kInteger, .axes = {onnx::kBatchAxis, {.size = 2}}, .var = both};
  pair.sample_numbers =
      std::make_shared<const onnx::SampleNumbers>(onnx::SampleNumbers{.steps = {1, 0}});
  return pair;
}

TEST(SampleNumbers, AreARangeOverTheBatch) {
  const onnx::Value numbers = sample_numbers();
  EXPECT_EQ(text(numbers.axes), "(N,)");
  ASSERT_TRUE(numbers.counts_samples());
  EXPECT_EQ(numbers.sample_numbers->steps, std::vector<std::int64_t>{1});
  EXPECT_EQ(numbers.integers->base, std::vector<std::int64_t>{0});
}

// 2, 5 of the first sample, 8, 11 of the next.
TEST(SampleNumbers, AreARangeOfSeveralForEach) {
  OperatorFixture range("Range");
  range.integers({}, {2}).integers({}, {2}, {6}).integers({}, {3});
  const onnx::Value numbers = range.result();
  EXPECT_EQ(text(numbers.axes), "(N 2,)");
  EXPECT_EQ(numbers.sample_numbers->steps, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(numbers.integers->base, (std::vector<std::int64_t>{2, 5}));
}

TEST(SampleNumbers, SumsAndProductsCarryThemOn) {
  OperatorFixture sum("Add");
  sum.integers({2, 1}, {4, 5}).value(sample_numbers(3));
  const onnx::Value twice = sum.result();
  EXPECT_EQ(text(twice.axes), "(2, N)");
  EXPECT_EQ(twice.sample_numbers->steps, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(twice.integers->base, (std::vector<std::int64_t>{4, 5}));
  OperatorFixture difference("Sub");
  difference.integers({2, 1}, {4, 5}).value(sample_numbers(3));
  EXPECT_EQ(difference.result().sample_numbers->steps, (std::vector<std::int64_t>{-3, -3}));
  OperatorFixture square("Mul");
  square.value(sample_numbers()).value(sample_numbers());
  expect_refused(square, "multiplies the number of a sample");
}

// Between Unsqueeze and Concat, as columns of GatherND's indices.
TEST(SampleNumbers, MovementsCarryThemOn) {
  OperatorFixture column("Unsqueeze");
  column.value(sample_numbers()).integers({1}, {1});
  EXPECT_EQ(text(column.result().axes), "(N, 1)");
  OperatorFixture places("Concat");
  places.with("axis", 1).value(column.result());
  add_indices(places, {1}, 4);
  const onnx::Value both = places.result();
  EXPECT_EQ(text(both.axes), "(N, 2)");
  EXPECT_EQ(both.sample_numbers->steps, (std::vector<std::int64_t>{1, 0}));
}

// x as (N 3, 2) at 3 n + i.
TEST(SampleNumbers, GatherPicksTheSamplesOwnRows) {
  OperatorFixture op("Gather");
  op.data_with_axes({kRows, {.size = 2}});
  op.value(with_indices(op, sample_numbers(3), 3));
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto row = 2 * index_at(record[6], 3);
    return std::vector<T>{T(record[row]), T(record[row + 1])};
  });
}

TEST(SampleNumbers, GatherPicksByKnownIndicesWithinTheSample) {
  OperatorFixture last("Add");
  last.value(sample_numbers(3)).integers({}, {2});
  OperatorFixture op("Gather");
  op.data_with_axes({kRows, {.size = 2}}).value(last.result());
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(record[4]), T(record[5])};
  });
}

// -1 is the last row of the sample before, 3 the first of the next.
TEST(SampleNumbers, RowsOfOtherSamplesAreNotRead) {
  for (const std::int64_t index : {-1, 3}) {
    OperatorFixture other("Add");
    other.value(sample_numbers(3)).integers({}, {index});
    OperatorFixture op("Gather");
    op.data_with_axes({kRows, {.size = 2}}).value(other.result());
    expect_refused(op, index < 0 ? "of the sample before" : "is not one of 3 entries");
  }
  OperatorFixture op("Gather");
  op.data_with_axes({kRows});
  const Var minus = -op.graph().input(op.graph().record_size(), 1, 1);
  onnx::Value index = {.kind = onnx::ElementKind::kInteger,
                       .axes = {onnx::kBatchAxis},
                       .var = elementary(Elementary::kFloor, minus)};
  index.sample_numbers = sample_numbers(3).sample_numbers;
  const onnx::Value y = op.value(index).result();
  op.graph().set_prediction(*y.var);
  op.graph().set_output(*y.var);
  SampleTable samples(2, 4);
  samples << 7, 8, 9, 1,  //
      7, 8, 9, -1;
  std::vector<double> rows(2);
  Sweep::create(op.graph())->predictions({}, test::records_of(samples), rows);
  EXPECT_TRUE(std::isnan(rows[0]));
  EXPECT_EQ(rows[1], 8);
}

// An index that data tell, as it stands in the record.
onnx::Value told_index(OperatorFixture& op) {
  const Var index = op.graph().input(op.graph().record_size(), 1, 1);
  return {.kind = onnx::ElementKind::kInteger, .axes = {onnx::kBatchAxis}, .var = index};
}

// i N + n, as exporters write x[i, arange(N)], on the fixture's graph.
onnx::Value places_in_time(OperatorFixture& op, const onnx::Value& index) {
  const onnx::Value product = op.then("Mul").value(index).integers({}, {0}, {1}).result();
  return op.then("Add").value(sample_numbers()).value(product).result();
}

// x as (3 N, 2), time in front.
TEST(SampleNumbers, GatherPicksTheSamplesOwnTimes) {
  OperatorFixture op("Mul");
  const onnx::Value places = places_in_time(op, with_indices(op, {}, 3));
  EXPECT_TRUE(places.sample_numbers->is_times_batch);
  op.then("Gather").data_with_axes({kTimes, {.size = 2}}).value(places);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto row = 1 + 2 * index_at(record[0], 3);
    return std::vector<T>{T(record[row]), T(record[row + 1])};
  });
}

// 2 N + n and n - N are the last of three, n the first.
TEST(SampleNumbers, GatherPicksByKnownTimes) {
  for (const std::int64_t time : {2, -1, 0}) {
    OperatorFixture sum("Add");
    sum.integers({}, {0}, {time}).value(sample_numbers());
    OperatorFixture op("Gather");
    op.data_with_axes({kTimes, {.size = 2}}).value(sum.result());
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 2)");
    expect_computes(op, y, [&](const auto& theta, const double* record) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      const std::int64_t row = time == 0 ? 0 : 4;
      return std::vector<T>{T(record[row]), T(record[row + 1])};
    });
  }
}

// Unlike places behind the batch, where -1 is the sample before's.
TEST(SampleNumbers, TimesAreCountedFromEitherEnd) {
  OperatorFixture op("Mul");
  const onnx::Value places = places_in_time(op, told_index(op));
  const onnx::Value y = op.then("Gather").data_with_axes({kTimes}).value(places).result();
  op.graph().set_prediction(*y.var);
  op.graph().set_output(*y.var);
  SampleTable samples(4, 4);
  samples << 1, 7, 8, 9,  //
      -1, 7, 8, 9,        //
      3, 7, 8, 9,         //
      -4, 7, 8, 9;
  std::vector<double> times(4);
  Sweep::create(op.graph())->predictions({}, test::records_of(samples), times);
  EXPECT_EQ(times[0], 8);
  EXPECT_EQ(times[1], 9);
  EXPECT_TRUE(std::isnan(times[2]));
  EXPECT_TRUE(std::isnan(times[3]));
}

TEST(SampleNumbers, TimesOfOtherSamplesAreRefused) {
  OperatorFixture behind("Mul");  // times N, but the batch stands in front
  const onnx::Value places = places_in_time(behind, told_index(behind));
  behind.then("Gather").data_with_axes({kRows}).value(places);
  expect_refused(behind, "do not stay within the sample's own entries");
  OperatorFixture steps("Gather");  // i + n, not times N
  steps.data_with_axes({kTimes}).value(with_indices(steps, sample_numbers(), 3));
  expect_refused(steps, "do not stay within the sample's own entries");
  OperatorFixture next("Add");  // the next sample's: N + n + 1
  next.integers({}, {1}, {1}).value(sample_numbers());
  OperatorFixture op("Gather");
  op.data_with_axes({kTimes}).value(next.result());
  expect_refused(op, "is not one of 1 entries");
  OperatorFixture shifted("Mul");  // i N + 1
  const onnx::Value product = shifted.value(told_index(shifted)).integers({}, {0}, {1}).result();
  shifted.then("Add").value(product).integers({}, {1});
  expect_refused(shifted, "neither that nor a Range over the batch");
}

TEST(SampleNumbers, GatherNDPicksTheSamplesOwnSlices) {
  OperatorFixture op("GatherND");
  op.data({3, 2});
  const onnx::Value y = op.value(pair_with_index(op, 3)).result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto row = 2 * index_at(record[6], 3);
    return std::vector<T>{T(record[row]), T(record[row + 1])};
  });
}

// x[:, 1:3] = y as exporters write it: a pair (n, i) for each entry that is assigned.
TEST(SampleNumbers, ScatterNDAssignsTheSamplesOwnEntries) {
  OperatorFixture rows("Unsqueeze");
  rows.value(sample_numbers()).integers({1}, {1});
  OperatorFixture all("Expand");
  all.value(rows.result()).integers({2}, {0, 2}, {1, 0});
  OperatorFixture first("Unsqueeze");
  first.value(all.result()).integers({1}, {-1});
  OperatorFixture pairs("Concat");
  pairs.with("axis", -1).value(first.result());
  OperatorFixture columns("Expand");
  columns.integers({1, 2, 1}, {1, -1}).integers({3}, {0, 2, 1}, {1, 0, 0});
  pairs.value(columns.result());
  OperatorFixture op("ScatterND");
  op.data({4}).value(pairs.result()).data({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 4)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(record[0]), T(record[4]), T(record[2]), T(record[5])};
  });
}

// x[arange(N), i] = y, where the data tell i.
TEST(SampleNumbers, ScatterNDAssignsWhereTheDataSay) {
  OperatorFixture op("ScatterND");
  op.data({3});
  const onnx::Value y = op.value(pair_with_index(op, 3)).data({}).result();
  EXPECT_EQ(text(y.axes), "(N, 3)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries = {T(record[0]), T(record[1]), T(record[2])};
    entries[static_cast<std::size_t>(index_at(record[3], 3))] = T(record[4]);
    return entries;
  });
}

TEST(SampleNumbers, ScatterNDIntoOtherSamplesIsRefused) {
  OperatorFixture table("ScatterND");  // rows of what all samples have in common
  OperatorFixture places("Unsqueeze");
  places.value(sample_numbers()).integers({1}, {1});
  table.numbers({5}, {1, 2, 3, 4, 5}).value(places.result()).data({});
  expect_refused(table, "do not stay within the sample's own entries");
  OperatorFixture next("Add");
  next.value(places.result()).integers({}, {1});
  OperatorFixture op("ScatterND");
  op.data({2}).value(next.result()).data({2});
  expect_refused(op, "is not one of 1 entries");
}

TEST(SampleNumbers, WhatWouldMeetOtherSamplesIsRefused) {
  OperatorFixture steps("Gather");  // rows 2 n of (N 3, 2)
  steps.data_with_axes({kRows, {.size = 2}}).value(sample_numbers(2));
  expect_refused(steps, "do not stay within the sample's own entries");
  OperatorFixture table("Gather");  // a table of positions by the number of the sample
  table.parameter({5, 2}).value(sample_numbers());
  expect_refused(table, "do not stay within the sample's own entries");
  OperatorFixture real("Cast");
  real.with("to", 1).value(sample_numbers());
  expect_refused(real, "read as integers of 32 bits or more");
  OperatorFixture narrow("Cast");
  narrow.with("to", 2).value(sample_numbers());
  expect_refused(narrow, "read as integers of 32 bits or more");
}

}  // namespace
}  // namespace hesscope
