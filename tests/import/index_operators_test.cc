// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that choose by masks, lengths and repeats; tensors made of numbers alone.
#include <cmath>
#include <limits>
#include <memory>
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

TEST(Where, KeepsInfinityOfTheBranchNotTakenAway) {
  const double infinity = std::numeric_limits<double>::infinity();
  OperatorFixture op("Where");
  op.integers({2, 2}, {1, 0, 1, 1}).parameter({2, 2}).numbers({}, {-infinity});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2)");
  op.graph().set_output(sum(exp(*y.var)));
  const std::vector<double> theta = {0, 5, 0, 0};
  std::vector<double> gradient(4);
  const double value =
      Sweep::create(op.graph())->value_and_gradient(theta, {.data = nullptr, .count = 1}, gradient);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(gradient, (std::vector<double>{1, 0, 1, 1}));
}

TEST(Where, BroadcastsAllThree) {
  OperatorFixture op("Where");
  op.integers({2, 1}, {1, 0}).parameter({1, 3}).parameter({});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 3)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0), x(1), x(2), x(3), x(3), x(3)};
  });
}

TEST(Where, SelectsByData) {
  OperatorFixture op("Where");
  add_indices(op, {3}, 2);
  op.parameter({3}).parameter({});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 3)");
  expect_computes(op, y, [](const auto& x, const double* record) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 3; ++i) entries.push_back(index_at(record[i], 2) != 0 ? x(i) : x(3));
    return entries;
  });
}

TEST(Where, KeepsSizesKnownThatCountSamples) {
  OperatorFixture op("Where");
  op.integers({2}, {1, 0}).integers({2}, {0, 7}, {2, 0}).integers({2}, {5, 6});
  const onnx::Value y = op.result();
  ASSERT_TRUE(y.is_known());
  EXPECT_EQ(y.integers->base, (WholeNumbers{0, 6}));
  EXPECT_EQ(y.integers->per_sample, (WholeNumbers{2, 0}));
}

TEST(Where, RefusesConditionsThatVaryAndShapesThatDoNotFit) {
  OperatorFixture varying("Where");
  varying.parameter({2}).parameter({2}).parameter({2});
  expect_refused(varying, "input 1 changes with the parameters");
  OperatorFixture shapes("Where");
  shapes.integers({3}, {1, 0, 1}).parameter({2}).parameter({2});
  expect_refused(shapes, "shapes (3,) and (2,) do not fit");
  OperatorFixture samples("Where");
  samples.integers({2, 1}, {1, 0}).data({3}).parameter({3});
  expect_refused(samples, "let samples meet");
}

TEST(OneHot, PutsKnownIndicesAtAnyAxis) {
  OperatorFixture op("OneHot");
  op.with("axis", 0).integers({2}, {1, -3}).integers({}, {3}).parameter({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(3, 2)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0), x(1), x(1), x(0), x(0), x(0)};
  });
}

TEST(OneHot, MakesRowsOfWhatDataTell) {
  OperatorFixture op("OneHot");
  add_indices(op, {2}, 3);
  op.integers({}, {3}).parameter({2});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 3)");
  expect_computes(op, y, [](const auto& x, const double* record) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 2; ++i) {
      for (int c = 0; c < 3; ++c) entries.push_back(x(index_at(record[i], 3) == c ? 1 : 0));
    }
    return entries;
  });
}

TEST(OneHot, CutsIndicesFromDataTowardsZeroAndHasNoneOutside) {
  OperatorFixture op("OneHot");
  op.data({3}).integers({}, {2}).numbers({2}, {5, 7});
  const onnx::Value y = op.result();
  op.graph().set_prediction(*y.var);
  op.graph().set_output(sum(*y.var));
  const std::vector<double> record = {1.75, -1.75, 2};
  std::vector<double> entries(6);
  Sweep::create(op.graph())->predictions({}, {record.data(), 1, 3}, entries);
  EXPECT_EQ(entries, (std::vector<double>{5, 7, 5, 7, 5, 5}));
}

TEST(OneHot, RefusesADepthThatIsNone) {
  OperatorFixture none("OneHot");
  none.integers({1}, {0}).integers({}, {0}).numbers({2}, {0, 1});
  expect_refused(none, "depth must be one number");
  OperatorFixture counting("OneHot");
  counting.integers({1}, {0}).integers({}, {0}, {1}).numbers({2}, {0, 1});
  expect_refused(counting, "depends on the number of samples");
  OperatorFixture values_of_samples("OneHot");
  values_of_samples.integers({1}, {0}).integers({}, {3}).data({2});
  expect_refused(values_of_samples, "needs 2 values, got (N, 2)");
}

TEST(Tile, RepeatsAxes) {
  OperatorFixture op("Tile");
  op.parameter({2, 1}).integers({2}, {2, 3});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(4, 3)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    std::vector<T> entries;
    for (int i = 0; i < 4; ++i) entries.insert(entries.end(), 3, x(i % 2));
    return entries;
  });
}

TEST(Tile, FollowsTheBatch) {
  OperatorFixture each("Tile");
  each.parameter({1, 3}).integers({2}, {0, 1}, {1, 0});
  EXPECT_EQ(text(each.result().axes), "(N, 3)");
  OperatorFixture over("Tile");
  over.data({2}).integers({2}, {3, 1});
  EXPECT_EQ(text(over.result().axes), "(3 N, 2)");
  OperatorFixture twice("Tile");
  twice.data({2}).integers({2}, {0, 1}, {1, 0});
  expect_refused(twice, "cannot repeat axis 0 of (N, 2)");
  OperatorFixture none("Tile");
  none.data({}).integers({1}, {0});
  expect_refused(none, "cannot repeat axis 0 of (N,)");
  OperatorFixture endless("Tile");
  endless.integers({4}, {1, 2, 3, 4}).integers({1}, {std::int64_t{1} << 62});
  expect_refused(endless, "beyond 64 bits");
  OperatorFixture square("Tile");
  square.data({2}).integers({2}, {1, 0}, {0, 1});
  expect_refused(square, "let each sample meet all others");
}

TEST(Trilu, KeepsATriangle) {
  OperatorFixture upper("Trilu");
  upper.parameter({2, 3}).integers({}, {1});
  expect_computes(upper, upper.result(), [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{T(0.0), x(1), x(2), T(0.0), T(0.0), x(5)};
  });
  OperatorFixture lower("Trilu");
  lower.with("upper", 0).parameter({2, 2});
  expect_computes(lower, lower.result(), [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0), T(0.0), x(2), x(3)};
  });
  OperatorFixture samples("Trilu");
  samples.data({3});
  expect_refused(samples, "it takes a triangle of axis 0 of (N, 3)");
}

TEST(CumSum, SumsFromBothEndsWithAndWithoutTheEntryItself) {
  for (const bool excludes : {false, true}) {
    for (const bool turns : {false, true}) {
      OperatorFixture op("CumSum");
      op.with("exclusive", excludes ? 1 : 0).with("reverse", turns ? 1 : 0);
      op.parameter({3, 2}).integers({}, {0});
      const onnx::Value y = op.result();
      EXPECT_EQ(text(y.axes), "(3, 2)");
      expect_computes(op, y, [&](const auto& x, const double*) {
        using T = typename std::decay_t<decltype(x)>::Scalar;
        std::vector<T> entries;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 2; ++j) {
            T sum(0.0);
            for (int k = 0; k < 3; ++k) {
              const int ahead = turns ? k - i : i - k;
              if (ahead > 0 || (ahead == 0 && !excludes)) sum += x(2 * k + j);
            }
            entries.push_back(sum);
          }
        }
        return entries;
      });
      OperatorFixture whole("CumSum");
      whole.with("exclusive", excludes ? 1 : 0).with("reverse", turns ? 1 : 0);
      whole.integers({3}, {1, 2, 4}).integers({}, {-1});
      const WholeNumbers forward = excludes ? WholeNumbers{0, 1, 3} : WholeNumbers{1, 3, 7};
      const WholeNumbers backward = excludes ? WholeNumbers{6, 4, 0} : WholeNumbers{7, 6, 4};
      EXPECT_EQ(whole.result().integers->base, turns ? backward : forward);
    }
  }
}

TEST(CumSum, RefusesIntegersThatOverflow) {
  OperatorFixture op("CumSum");
  op.integers({3}, {std::int64_t{1} << 62, std::int64_t{1} << 62, 0}).integers({}, {0});
  expect_refused(op, "beyond 64 bits");
}

TEST(CumSum, DoesNotSumOverSamples) {
  OperatorFixture op("CumSum");
  op.data({2}).integers({}, {0});
  expect_refused(op, "it sums along axis 0 of (N, 2), the batch (N)");
}

TEST(ReverseSequence, TurnsTheFirstEntriesOfEach) {
  OperatorFixture op("ReverseSequence");
  op.with("time_axis", 0).with("batch_axis", 1).parameter({3, 2}).integers({2}, {2, 3});
  expect_computes(op, op.result(), [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(2), x(5), x(0), x(3), x(4), x(1)};
  });
  OperatorFixture samples("ReverseSequence");
  samples.with("time_axis", 1).with("batch_axis", 0).data({3}).integers({1}, {2});
  expect_refused(samples, "lengths (1,) do not fit axis 0 of (N, 3)");
}

TEST(Compress, PicksWhereAKnownConditionHolds) {
  OperatorFixture op("Compress");
  op.with("axis", 1).parameter({2, 3}).integers({3}, {1, 0, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 2)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return std::vector<T>{x(0), x(2), x(3), x(5)};
  });
  OperatorFixture flat("Compress");
  flat.parameter({2, 2}).integers({3}, {0, 0, 1});
  EXPECT_EQ(text(flat.result().axes), "(1,)");
  OperatorFixture samples("Compress");
  samples.data({2}).integers({1}, {1});
  expect_refused(samples, "it picks entries along axis 0 of (N, 2)");
  OperatorFixture data("Compress");
  data.with("axis", 0).parameter({2});
  add_indices(data, {}, 2);
  expect_refused(data, "its condition depends on data");
}

// --- numbers alone -----------------------------------------------------------------------------

TEST(Range, CountsInIntegersAndReals) {
  OperatorFixture whole("Range");
  whole.integers({}, {10}).integers({}, {4}).integers({}, {-3});
  EXPECT_EQ(whole.result().integers->base, (WholeNumbers{10, 7}));
  OperatorFixture empty("Range");
  empty.integers({}, {3}).integers({}, {3}).integers({}, {1});
  EXPECT_EQ(text(empty.result().axes), "(0,)");
  OperatorFixture real("Range");
  real.numbers({}, {0.5}).numbers({}, {2}).numbers({}, {0.5});
  const onnx::Value y = real.result();
  const auto entries = real.graph().constant_value(*y.var);
  EXPECT_EQ(std::vector<double>(entries.begin(), entries.end()),
            (std::vector<double>{0.5, 1, 1.5}));
}

TEST(Range, RefusesWhatNeverEndsOrDividesSamples) {
  OperatorFixture still("Range");
  still.integers({}, {0}).integers({}, {4}).integers({}, {0});
  expect_refused(still, "is no range");
  OperatorFixture endless("Range");
  endless.integers({}, {0}).integers({}, {std::int64_t{1} << 60}).integers({}, {1});
  expect_refused(endless, "is no range");
  OperatorFixture none("Range");
  none.numbers({}, {0}).numbers({}, {std::nan("")}).numbers({}, {1});
  expect_refused(none, "is no range");
  OperatorFixture inexact("Range");
  inexact.integers({}, {std::int64_t{1} << 60}).integers({}, {(std::int64_t{1} << 60) + 1});
  expect_refused(inexact.integers({}, {1}), "is no range");
  OperatorFixture samples("Range");
  samples.integers({}, {0}).integers({}, {0}, {3}).integers({}, {2});
  expect_refused(samples, "depends on the number of samples");
}

TEST(ConstantOfShape, HasTheBatchWhereItsShapeHas) {
  OperatorFixture op("ConstantOfShape");
  op.integers({3}, {1, 0, 4}, {0, 1, 0});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, N, 4)");
  const auto entries = op.graph().constant_value(*y.var);
  EXPECT_EQ(std::vector<double>(entries.begin(), entries.end()), std::vector<double>(4));
  OperatorFixture twice("ConstantOfShape");
  twice.integers({2}, {0, 0}, {1, 1});
  expect_refused(twice, "has the batch (N) twice");
  OperatorFixture shifted("ConstantOfShape");
  shifted.integers({1}, {1}, {1});
  expect_refused(shifted, "1 + 1 N is no size of an axis");
}

TEST(ConstantOfShape, FillsWithItsValue) {
  onnx::Tensor seven;
  seven.kind = onnx::ElementKind::kInteger;
  seven.shape = {1};
  seven.integers = {7};
  OperatorFixture op("ConstantOfShape");
  op.with("value", seven).integers({2}, {2, 1});
  EXPECT_EQ(op.result().integers->base, (WholeNumbers{7, 7}));
  OperatorFixture large("ConstantOfShape");
  large.integers({2}, {100'000, 100'000});
  expect_refused(large, "entries a sample are taken");
}

TEST(EyeLike, HasOnesOnADiagonal) {
  OperatorFixture op("EyeLike");
  op.with("k", -1).with("dtype", 7).parameter({2, 3});
  EXPECT_EQ(op.result().integers->base, (WholeNumbers{0, 0, 0, 1, 0, 0}));
  OperatorFixture samples("EyeLike");
  samples.data({3});
  expect_refused(samples, "it has a diagonal along axis 0 of (N, 3)");
}

TEST(NonZero, ListsPositions) {
  OperatorFixture op("NonZero");
  op.integers({2, 2}, {1, 0, 1, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(2, 3)");
  EXPECT_EQ(y.integers->base, (WholeNumbers{0, 1, 1, 0, 0, 1}));
  OperatorFixture varying("NonZero");
  varying.parameter({3});
  expect_refused(varying, "its result depends on which entries of input 1 are not zero");
}

}  // namespace
}  // namespace hesscope
