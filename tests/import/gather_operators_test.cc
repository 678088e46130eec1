// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that pick entries, or put them elsewhere, by indices that are known or come from data.
#include <algorithm>
#include <cmath>
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

// The entries of theta at these places; 0 for -1.
auto entries_of_theta(std::vector<std::int64_t> places) {
  return [places](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (const std::int64_t place : places) entries.push_back(place < 0 ? T(0.0) : theta(place));
    return entries;
  };
}

TEST(Gather, PicksRowsByKnownIndicesAlsoFromTheBack) {
  OperatorFixture op("Gather");
  op.parameter({3, 2}).integers({2, 1}, {2, -3});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 1, 2)");
  expect_computes(op, y, entries_of_theta({4, 5, 0, 1}));
}

TEST(Gather, PicksAlongAnInnerAxis) {
  OperatorFixture op("Gather");
  op.with("axis", -1).parameter({2, 3}).integers({2}, {2, 0});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2)");
  expect_computes(op, y, entries_of_theta({2, 0, 5, 3}));
}

TEST(Gather, LooksRowsUpThatDataTell) {
  OperatorFixture op("Gather");
  op.parameter({4, 2});
  add_indices(op, {3}, 4);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 2; ++j) entries.push_back(theta(2 * index_at(record[i], 4) + j));
    }
    return entries;
  });
}

TEST(Gather, LooksUpAlongAnInnerAxis) {
  OperatorFixture op("Gather");
  op.with("axis", 1).parameter({2, 4, 2});
  add_indices(op, {}, 4);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) entries.push_back(theta(8 * i + 2 * index_at(record[0], 4) + j));
    }
    return entries;
  });
}

TEST(Gather, CarriesTheBatchAndRefusesToPickAlongIt) {
  OperatorFixture carried("Gather");
  carried.with("axis", 1).data({3, 2}).integers({}, {1});
  EXPECT_EQ(text(carried.result().axes), "(N, 2)");
  OperatorFixture along("Gather");
  along.data({3}).integers({}, {0});
  expect_refused(along, "it picks entries along axis 0 of (N, 3), the batch (N)");
  OperatorFixture both("Gather");
  both.with("axis", 1).data({4});
  add_indices(both, {2}, 4);
  expect_refused(both, "let each sample meet all others");
}

TEST(Gather, RefusesIndicesThatAreNotThereOrVary) {
  OperatorFixture outside("Gather");
  outside.parameter({3, 2}).integers({1}, {3});
  expect_refused(outside, "index 3 is not one of 3 entries");
  OperatorFixture varying("Gather");
  varying.parameter({3, 2}).parameter({1});
  expect_refused(varying, "input 2 changes with the parameters");
  OperatorFixture counting("Gather");
  counting.parameter({3, 2}).integers({1}, {0}, {1});
  expect_refused(counting, "depends on the number of samples");
}

TEST(GatherElements, PicksByKnownIndices) {
  OperatorFixture op("GatherElements");
  op.with("axis", 1).parameter({2, 3}).integers({2, 2}, {2, 0, -1, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2)");
  expect_computes(op, y, entries_of_theta({2, 0, 5, 4}));
}

TEST(GatherElements, PicksBySamplesIndices) {
  OperatorFixture op("GatherElements");
  op.with("axis", 1).data({3});
  add_indices(op, {2}, 3);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(record[index_at(record[3], 3)]), T(record[index_at(record[4], 3)])};
  });
}

TEST(GatherElements, MakesNotANumberOfIndicesFromDataThatAreNotThere) {
  OperatorFixture op("GatherElements");
  op.with("axis", 1).parameter({2, 2}).data_with_axes({{.size = 2}, {.size = 1}});
  const onnx::Value y = op.result();
  op.graph().set_prediction(*y.var);
  op.graph().set_output(sum(*y.var));
  const std::vector<double> theta = {1, 2, 3, 4};
  const std::vector<double> record = {-1, 2};  // the last entry; none
  std::vector<double> entries(2);
  Sweep::create(op.graph())->predictions(theta, {record.data(), 1, 2}, entries);
  EXPECT_EQ(entries[0], 2);
  EXPECT_TRUE(std::isnan(entries[1]));
}

// x.gather(-1, i) of a table that all samples have in common.
TEST(GatherElements, PicksEntriesOfATableForEachSample) {
  OperatorFixture op("GatherElements");
  op.parameter({4});
  add_indices(op, {}, 4);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N,)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{theta(index_at(record[0], 4))};
  });
  OperatorFixture columns("GatherElements");
  columns.parameter({3, 2});
  add_indices(columns, {2}, 3);
  const onnx::Value rows = columns.result();
  EXPECT_EQ(text(rows.axes), "(N, 2)");
  expect_computes(columns, rows, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{theta(2 * index_at(record[0], 3)), theta(2 * index_at(record[1], 3) + 1)};
  });
}

TEST(GatherElements, KeepsSamplesApart) {
  OperatorFixture op("GatherElements");
  op.with("axis", 1).data({3}).integers({1, 2}, {0, 1});
  expect_refused(op, "the batch (N) must be at axis 0 of both");
  OperatorFixture along("GatherElements");
  along.with("axis", 0).data({3}).integers({1, 2}, {0, 0});
  expect_refused(along, "it picks entries along axis 0 of (N, 3)");
}

TEST(GatherND, PicksSlicesByKnownIndices) {
  OperatorFixture op("GatherND");
  op.parameter({2, 2, 3}).integers({2, 2}, {1, 0, 0, -1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 3)");
  expect_computes(op, y, entries_of_theta({6, 7, 8, 3, 4, 5}));
}

TEST(GatherND, PicksWithinAxesInCommon) {
  OperatorFixture op("GatherND");
  op.with("batch_dims", 1).parameter({2, 2, 3}).integers({2, 1}, {1, 0});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 3)");
  expect_computes(op, y, entries_of_theta({3, 4, 5, 6, 7, 8}));
}

TEST(GatherND, PicksSlicesThatDataTell) {
  OperatorFixture op("GatherND");
  op.parameter({3, 2});
  add_indices(op, {2, 1}, 3);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 2)");
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) entries.push_back(theta(2 * index_at(record[i], 3) + j));
    }
    return entries;
  });
}

TEST(GatherND, RefusesToPickSamples) {
  OperatorFixture op("GatherND");
  op.data({2}).integers({1, 1}, {0});
  expect_refused(op, "it picks entries along axis 0 of (N, 2)");
  OperatorFixture deep("GatherND");
  deep.parameter({2}).integers({1, 2}, {0, 0});
  expect_refused(deep, "do not fit data (2,)");
}

TEST(ScatterElements, PutsUpdatesAtKnownPlaces) {
  OperatorFixture op("ScatterElements");
  op.with("axis", 1).parameter({2, 3}).integers({2, 1}, {2, -3}).parameter({2, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 3)");
  expect_computes(op, y, entries_of_theta({0, 1, 6, 7, 4, 5}));
}

// Three updates of which two hit the first of three entries, and one the last.
OperatorFixture& scattered_thrice(OperatorFixture& op, const char* reduction) {
  return op.with("reduction", reduction).parameter({3}).integers({3}, {0, 2, 0}).parameter({3});
}

TEST(ScatterElements, AddsAndMultipliesWhatHitsTheSameEntry) {
  OperatorFixture added("ScatterElements", 18);
  const onnx::Value sums = scattered_thrice(added, "add").result();
  expect_computes(added, sums, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0) + x(3) + x(5), x(1), x(2) + x(4)};
  });
  OperatorFixture multiplied("ScatterElements", 18);
  const onnx::Value products = scattered_thrice(multiplied, "mul").result();
  expect_computes(multiplied, products, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0) * x(3) * x(5), x(1), x(2) * x(4)};
  });
}

TEST(ScatterElements, TakesTheLargestAndTheLeastOfWhatHitsAnEntry) {
  const auto largest = [](const auto& a, const auto& b) { return a < b ? b : a; };
  const auto least = [](const auto& a, const auto& b) { return a < b ? a : b; };
  OperatorFixture most("ScatterElements", 18);
  const onnx::Value upper = scattered_thrice(most, "max").result();
  expect_computes(most, upper, [&](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{largest(largest(x(0), x(3)), x(5)), x(1), largest(x(2), x(4))};
  });
  OperatorFixture fewest("ScatterElements", 18);
  const onnx::Value lower = scattered_thrice(fewest, "min").result();
  expect_computes(fewest, lower, [&](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{least(least(x(0), x(3)), x(5)), x(1), least(x(2), x(4))};
  });
}

TEST(ScatterElements, RefusesWhatItCannotKnow) {
  OperatorFixture strange("ScatterElements");
  expect_refused(scattered_thrice(strange, "mean"), "reduction 'mean' is not one of");
  OperatorFixture apart("ScatterElements");
  apart.with("axis", 1).data({3}).integers({1, 1}, {0}).parameter({1, 1});
  expect_refused(apart, "the batch (N) must be at axis 0 of both");
}

TEST(ScatterElements, RefusesSeveralNumbersForOnePlace) {
  OperatorFixture op("ScatterElements");
  expect_refused(scattered_thrice(op, "none"), "puts several numbers in one place");
  OperatorFixture constants("ScatterElements");
  constants.parameter({3}).integers({3}, {0, 2, 0}).numbers({3}, {1, 2, 3});
  expect_refused(constants, "Export scatter_add with opset_version=16");
  // The same number twice is no question.
  OperatorFixture same("ScatterElements");
  const onnx::Value y =
      same.parameter({3}).integers({3}, {0, 2, 0}).numbers({3}, {7, 8, 7}).result();
  expect_computes(same, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{T(7.0), x(1), T(8.0)};
  });
}

TEST(ScatterND, PutsSlices) {
  OperatorFixture op("ScatterND");
  op.parameter({3, 2}).integers({2, 1}, {2, 0}).parameter({2, 2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(3, 2)");
  expect_computes(op, y, entries_of_theta({8, 9, 2, 3, 6, 7}));
}

TEST(ScatterND, CarriesTheBatchBehindWhereItPuts) {
  OperatorFixture op("ScatterND");
  const onnx::Axes rows = {{.size = 3}, onnx::kBatchAxis, {.size = 2}};
  const onnx::Axes one = {{.size = 1}, onnx::kBatchAxis, {.size = 2}};
  op.data_with_axes(rows).integers({1, 1}, {1}).data_with_axes(one);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(3, N, 2)");
  expect_computes(op, y, [](const auto& theta, const double* r) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(r[0]), T(r[1]), T(r[6]), T(r[7]), T(r[4]), T(r[5])};
  });
  OperatorFixture along("ScatterND");
  along.data({3}).integers({1, 1}, {0}).parameter({1, 3});
  expect_refused(along, "it puts slices along axis 0 of (N, 3)");
}

}  // namespace
}  // namespace hesscope
