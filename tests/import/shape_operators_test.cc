// SPDX-License-Identifier: BSD-3-Clause
//
// Integers known before there are data, at the ends of 64 bits and with real numbers; tensors taken
// apart.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

using WholeNumbers = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Its magnitude is beyond 64 bits: the processor traps where it is divided by -1.
TEST(KnownIntegers, DivideTheLeast) {
  OperatorFixture by_one("Div");
  by_one.integers({2}, {kLeast, kLeast + 1}).integers({2}, {1, -1});
  EXPECT_EQ(by_one.result().integers->base, (WholeNumbers{kLeast, kMost}));
  OperatorFixture quotient("Div");
  quotient.integers({}, {kLeast}).integers({}, {-1});
  expect_refused(quotient, "beyond 64 bits");
  OperatorFixture of_samples("Div");
  of_samples.integers({}, {0}, {kLeast}).integers({}, {-1});
  expect_refused(of_samples, "beyond 64 bits");
  OperatorFixture cancelled("Div");
  cancelled.integers({}, {0}, {kLeast}).integers({}, {0}, {-1});
  expect_refused(cancelled, "beyond 64 bits");
  OperatorFixture remainder("Mod");
  remainder.integers({}, {kLeast}).integers({}, {-1});
  EXPECT_EQ(remainder.result().integers->base, (WholeNumbers{0}));
}

// kLeast - N and kLeast + N have no root N >= 1 of 64 bits; N - 3 has one, and N + 3 none.
TEST(KnownIntegers, CompareWithTheNumberOfSamples) {
  const auto compared = [](std::int64_t base, std::int64_t slope) {
    OperatorFixture op("Equal");
    op.integers({}, {base}, {slope}).integers({}, {0});
    return op.result().integers->base;
  };
  EXPECT_EQ(compared(kLeast, -1), (WholeNumbers{0}));
  EXPECT_EQ(compared(3, 1), (WholeNumbers{0}));
  EXPECT_EQ(compared(3, -2), (WholeNumbers{0}));
  EXPECT_EQ(compared(0, 1), (WholeNumbers{0}));
  OperatorFixture chance("Equal");
  chance.integers({}, {-3}, {1}).integers({}, {0});
  expect_refused(chance, "number of samples");
}

TEST(KnownIntegers, AreNotMixedWithRealNumbers) {
  OperatorFixture op("Clip");
  op.integers({2}, {1, 2}).parameter({});
  expect_refused(op, "integers of shapes or indices and real numbers at once");
  OperatorFixture attribute("Clip", 6);
  attribute.with("min", 1.5).integers({2}, {1, 2});
  expect_refused(attribute, "integers of shapes or indices and real numbers at once");
}

// As of the shape of a scalar, the last first.
// What a file can ask for in a few bytes, and what takes long for each pair of axes.
TEST(ShapeOperators, HaveLimits) {
  OperatorFixture deep("Unsqueeze", 13);
  std::vector<std::int64_t> axes(65);
  std::iota(axes.begin(), axes.end(), 0);
  deep.data({2}).integers({65}, axes);
  expect_refused(deep, "names or makes 65 axes; at most 64 are taken");
  OperatorFixture reshaped("Reshape");
  reshaped.numbers({1}, {2}).integers({67}, std::vector<std::int64_t>(67, 1));
  expect_refused(reshaped, "names or makes 67 axes");
  OperatorFixture known("Reshape");
  known.integers({1}, {3}).integers({67}, std::vector<std::int64_t>(67, 1));
  expect_refused(known, "names or makes 67 axes");
  OperatorFixture parts("SplitToSequence");
  parts.numbers({300'000}, std::vector<double>(300'000));
  expect_refused(parts, "makes 300000 parts; at most 200000 are taken");
  for (const int most : {5, 6}) {  // the whole of six entries, of which no node is recorded
    OperatorFixture whole("Slice");
    whole.limited({.max_moves = most}).data({6}).integers({1}, {0}).integers({1}, {6});
    whole.integers({1}, {1});
    if (most == 6) {
      whole.result();
    } else {
      expect_refused(whole, "moves, with what is before it, 6 entries from place to place");
    }
  }
}

TEST(Slice, OfAnEmptyListIsEmpty) {
  for (const std::int64_t step : {1, -1, 2, -3}) {
    OperatorFixture op("Slice");
    op.integers({0}, {}).integers({1}, {step > 0 ? 0 : -1});
    op.integers({1}, {step > 0 ? kMost : kLeast}).integers({1}, {0}).integers({1}, {step});
    const onnx::Value y = op.result();
    ASSERT_TRUE(y.is_known());
    EXPECT_EQ(text(y.axes), "(0,)");
    EXPECT_TRUE(y.integers->base.empty());
  }
}

// As torch.roll by 0 is written: all entries, then the first none.
TEST(Slice, MayLeaveNothing) {
  OperatorFixture op("Slice");
  op.data({3, 2}).integers({1}, {0}).integers({1}, {0}).integers({1}, {1});
  const onnx::Value y = op.result();
  ASSERT_TRUE(y.is_known());
  EXPECT_EQ(text(y.axes), "(N, 0, 2)");
  EXPECT_EQ(y.kind, onnx::ElementKind::kReal);
}

TEST(Split, MayMakePartsWithoutEntries) {
  OperatorFixture op("Split");
  op.outputs({"a", "b"}).parameter({2}).integers({2}, {0, 2});
  std::vector<std::string> parts;
  for (const onnx::Value& part : op.results()) parts.push_back(text(part.axes));
  EXPECT_EQ(parts, (std::vector<std::string>{"(0,)", "(2,)"}));
}

// A value of these axes without entries.
onnx::Value nothing(onnx::Axes axes) {
  return {.axes = std::move(axes), .integers = std::make_shared<const onnx::Integers>()};
}

TEST(Concat, PassesOverWhatHasNoEntries) {
  OperatorFixture rolled("Concat");
  rolled.with("axis", 1).data({2}).value(nothing({onnx::kBatchAxis, {.size = 0}}));
  const onnx::Value y = rolled.result();
  EXPECT_EQ(text(y.axes), "(N, 2)");
  expect_computes(rolled, y, [](const auto& x, const double* record) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{T(record[0]), T(record[1])};
  });
  OperatorFixture constant("Concat");  // which has no batch, and comes first
  constant.with("axis", 1).value(nothing(onnx::plain_axes({1, 0}))).data({2});
  EXPECT_EQ(text(constant.result().axes), "(N, 2)");
}

TEST(Concat, OfWhatHasNoEntriesHasNone) {
  OperatorFixture op("Concat");
  op.with("axis", 0).value(nothing(onnx::plain_axes({2, 0})));
  const onnx::Value y = op.value(nothing(onnx::plain_axes({3, 0}))).result();
  ASSERT_TRUE(y.is_known());
  EXPECT_EQ(text(y.axes), "(5, 0)");
}

TEST(Reshape, RefusesToMoveTheSamplesOfNothing) {
  OperatorFixture op("Reshape");
  op.value(nothing({{.size = 0}, onnx::kBatchAxis})).integers({2}, {0, 0}, {1, 0});
  expect_refused(op.with("allowzero", 1), "cannot become (N, 0)");
}

TEST(Reshape, SaysWhatALengthInFrontOfTheSamplesMayHaveBeen) {
  const std::string advice = "write x.size(0) or -1 instead of it";
  const auto refused = [&](std::vector<std::int64_t> shape) {
    OperatorFixture op("Reshape");
    op.value(nothing({onnx::kBatchAxis, {.size = 2}, {.size = 2}}));
    op.integers({static_cast<std::int64_t>(shape.size())}, shape);
    try {
      op.result();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused({2, -1}), testing::HasSubstr("if the 2 was the number of samples"));
  EXPECT_THAT(refused({2, -1}), testing::HasSubstr(advice));
  EXPECT_THAT(refused({-1, 3}),
              testing::AllOf(testing::HasSubstr("cannot become (-1, 3)"),
                             testing::Not(testing::HasSubstr(advice))));
}

TEST(Pad, RefusesNumbersAroundNothing) {
  OperatorFixture op("Pad");
  op.value(nothing(onnx::plain_axes({0}))).integers({2}, {1, 1}).numbers({}, {0.5});
  expect_refused(op, "computes with a tensor that has no entries");
}

TEST(Split, RefusesPartsWhoseSumOverflows) {
  OperatorFixture op("Split");
  op.outputs({"a", "b", "c", "d"}).parameter({4});
  op.integers({4}, {kMost, kMost, 3, 3});  // 4, were it to wrap around
  expect_refused(op, "do not make up axis 0 of (4,)");
  OperatorFixture negative("Split");
  negative.outputs({"a", "b"}).parameter({4}).integers({2}, {5, -1});
  expect_refused(negative, "do not make up axis 0 of (4,)");
  OperatorFixture fewer("Split");
  fewer.outputs({"a", "b"}).parameter({4}).integers({2}, {2, 1});
  expect_refused(fewer, "do not make up axis 0 of (4,)");
}

TEST(Split, RefusesPartsThatStayEmpty) {
  OperatorFixture op("Split", 18);
  op.outputs({"a", "b", "c"}).with("num_outputs", 3).parameter({4});
  expect_refused(op, "the 4 entries of axis 0 of (4,) do not fill 3 parts of 2");
  OperatorFixture last_is_smaller("Split", 18);
  last_is_smaller.outputs({"a", "b", "c"}).with("num_outputs", 3).parameter({5});
  std::vector<std::string> parts;
  for (const onnx::Value& part : last_is_smaller.results()) parts.push_back(text(part.axes));
  EXPECT_EQ(parts, (std::vector<std::string>{"(2,)", "(2,)", "(1,)"}));
}

TEST(Hardmax, PicksTheFirstOfTheLargest) {
  OperatorFixture op("Hardmax");
  op.data({4});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 4)");
  expect_computes(op, y, [](const auto& x, const double* record) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    std::vector<T> entries(4, T(0));
    entries[static_cast<std::size_t>(std::max_element(record, record + 4) - record)] = T(1);
    return entries;
  });
  OperatorFixture ties("Hardmax");
  ties.numbers({2, 3}, {1, 2, 2, -5, -5, -5});
  const onnx::Value of_ties = ties.result();
  expect_computes(ties, of_ties, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{T(0), T(1), T(0), T(1), T(0), T(0)};
  });
}

// Its graph is as large as the row, not as its square: 8 n^2 bytes would be 20 GB.
TEST(Hardmax, TakesLongRows) {
  OperatorFixture op("Hardmax");
  op.parameter({1, 50000});
  EXPECT_EQ(text(op.result().axes), "(1, 50000)");
}

}  // namespace
}  // namespace hesscope
