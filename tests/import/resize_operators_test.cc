// SPDX-License-Identifier: BSD-3-Clause
//
// Resize, Upsample, Pad and blocks: where entries come from, and which become of the batch.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

// Entry e of the result is entry sources[e] of the sample; `fill` where that is -1.
auto entries_of(std::vector<int> sources, double fill = 0) {
  return [sources, fill](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> y;
    for (const int source : sources) y.push_back(T(source < 0 ? fill : record[source]));
    return y;
  };
}

// --- Resize ---

TEST(Resize, ToTheNearestEntryBySizesThatFollowTheBatch) {
  OperatorFixture op("Resize", 13);
  op.data({1, 2, 2}).left_out().left_out().integers({4}, {0, 1, 2, 4}, {1, 0, 0, 0});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 1, 2, 4)");
  expect_computes(op, y, entries_of({0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Resize, LinearlyByScales) {
  OperatorFixture op("Resize", 13);
  op.with("mode", "linear").with("coordinate_transformation_mode", "align_corners");
  op.parameter({1, 2, 2}).integers({0}, {}).numbers({3}, {1, 1.5, 1.5});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(1, 3, 3)");
  expect_computes(op, y, [](const auto& x, const double*) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    const T half(0.5);
    const T all = T(0.25) * (x(0) + x(1) + x(2) + x(3));
    return std::vector<T>{x(0),
                          half * (x(0) + x(1)),
                          x(1),
                          half * (x(0) + x(2)),
                          all,
                          half * (x(1) + x(3)),
                          x(2),
                          half * (x(2) + x(3)),
                          x(3)};
  });
}

TEST(Resize, OfSomeAxesKeepsTheirProportion) {
  const auto shape_by = [](const char* policy) {
    OperatorFixture op("Resize", 18);
    op.with("axes", {2, 3}).with("keep_aspect_ratio_policy", policy);
    op.data({1, 2, 4}).left_out().left_out().integers({2}, {7, 8});
    return text(op.result().axes);
  };
  EXPECT_EQ(shape_by("stretch"), "(N, 1, 7, 8)");
  EXPECT_EQ(shape_by("not_larger"), "(N, 1, 4, 8)");
  EXPECT_EQ(shape_by("not_smaller"), "(N, 1, 7, 14)");
}

// 10 * 0.7f is below 7 in doubles.
TEST(Resize, FindsLengthsInThePrecisionOfScales) {
  OperatorFixture op("Resize", 13);
  op.data({10}).left_out().numbers({2}, {1, static_cast<double>(0.7F)});
  EXPECT_EQ(text(op.result().axes), "(N, 7)");
}

TEST(Resize, FillsWhatIsOutsideOfACrop) {
  for (const char* mode : {"nearest", "linear"}) {
    OperatorFixture op("Resize", 13);
    op.with("mode", mode).with("coordinate_transformation_mode", "tf_crop_and_resize");
    op.with("extrapolation_value", 9.0).data({3}).numbers({4}, {0, 0.5, 1, 1.5}).left_out();
    op.integers({2}, {0, 3}, {1, 0});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 3)");
    expect_computes(op, y, entries_of({1, 2, -1}, 9));
  }
}

// 0.2 + (1 - 0.2) is above 1.
TEST(Resize, HasTheLastEntryInACropThatEndsWithIt) {
  for (const std::int64_t length : {3, 4, 5, 6, 7}) {
    for (const double begin : {0.1, 0.2, 0.3, 0.6, 0.7}) {
      OperatorFixture op("Resize", 13);
      op.with("mode", "linear").with("coordinate_transformation_mode", "tf_crop_and_resize");
      op.with("extrapolation_value", 9.0).data({length}).numbers({4}, {0, begin, 1, 1}).left_out();
      op.integers({2}, {0, length}, {1, 0});
      const onnx::Value y = op.result();
      expect_computes(op, y, [&](const auto& x, const double* record) {
        using T = typename std::decay_t<decltype(x)>::Scalar;
        std::vector<T> entries;
        for (std::int64_t to = 0; to < length; ++to) {
          const double part = static_cast<double>(to) / static_cast<double>(length - 1);
          const double at = (begin + (1 - begin) * part) * static_cast<double>(length - 1);
          const std::int64_t left = std::min(static_cast<std::int64_t>(at), length - 2);
          const double share = at - static_cast<double>(left);
          entries.push_back(T((1 - share) * record[left] + share * record[left + 1]));
        }
        return entries;
      });
    }
  }
}

TEST(Resize, OfOpset10TakesTheEntryInFront) {
  OperatorFixture op("Resize", 10);
  op.data({2}).numbers({2}, {1, 2.5});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 5)");
  expect_computes(op, y, entries_of({0, 0, 0, 1, 1}));
}

TEST(Upsample, ByScalesOfEitherKind) {
  OperatorFixture attribute("Upsample", 7);
  attribute.with("scales", std::vector<double>{1, 2}).data({2});
  const onnx::Value y = attribute.result();
  expect_computes(attribute, y, entries_of({0, 0, 1, 1}));
  OperatorFixture input("Upsample", 9);
  input.with("mode", "linear").data({2}).numbers({2}, {1, 2});
  const onnx::Value z = input.result();
  expect_computes(input, z, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{T(x[0]), T((x[0] + x[1]) / 2), T(x[1]), T(x[1])};
  });
}

TEST(Resize, SaysWhatIsWrong) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("Resize", 13);
    op.data({4});
    prepare(op);
    expect_refused(op, why);
  };
  refused([](auto&) {}, "needs either scales or sizes");
  refused([](auto& op) { op.left_out().numbers({1}, {2}); }, "1 scales are given for 2 axes");
  refused([](auto& op) { op.left_out().numbers({2}, {1, 0}); }, "scale 0 is not positive");
  refused([](auto& op) { op.left_out().numbers({2}, {1, 0.1}); }, "a length of 4 to 0");
  refused([](auto& op) { op.left_out().numbers({2}, {1, 1e30}); }, "would resize a length of 4");
  refused(
      [](auto& op) {
        op.with("mode", "best").left_out().numbers({2}, {1, 2});
      },
      "mode 'best' is not known");
  refused([](auto& op) { op.left_out().left_out().data({2}); }, "must be known");
}

// Few entries, each of more than could ever be looked at.
TEST(Resize, RefusesToShrinkWhatHasNoEnd) {
  OperatorFixture op("Resize", 18);
  op.with("coordinate_transformation_mode", "tf_crop_and_resize")
      .with("mode", "linear")
      .with("antialias", 1)
      .data({4})
      .numbers({4}, {0, 0, 1, 1e12})
      .numbers({2}, {1, 1e-12});
  expect_refused(op, "would make 4 entries, each of 1e+12 others");
}

TEST(Resize, LeavesTheBatchAlone) {
  OperatorFixture scales("Resize", 13);
  scales.data({4}).left_out().numbers({2}, {2, 1});
  expect_refused(scales, "resizes axis 0 of (N, 4), the batch (N)");
  OperatorFixture sizes("Resize", 13);
  sizes.data({4}).left_out().left_out().integers({2}, {3, 4});
  expect_refused(sizes, "resizes axis 0 of (N, 4), the batch (N)");
  OperatorFixture by_batch("Resize", 13);
  by_batch.data({4}).left_out().left_out().integers({2}, {0, 0}, {1, 1});
  expect_refused(by_batch, "would resize axis 1 by the number of samples");
  OperatorFixture crop("Resize", 13);
  crop.with("coordinate_transformation_mode", "tf_crop_and_resize");
  crop.data({4}).numbers({4}, {0.5, 0, 1, 1}).numbers({2}, {1, 1});
  expect_refused(crop, "crops axis 0 of (N, 4), the batch (N)");
}

// --- Pad ---

TEST(Pad, OfEveryMode) {
  const auto expect_padded = [](const char* mode, const std::vector<int>& sources) {
    OperatorFixture op("Pad", 19);
    op.with("mode", mode).data({4}).integers({4}, {0, 3, 0, 2});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 9)");
    expect_computes(op, y, entries_of(sources));
  };
  expect_padded("constant", {-1, -1, -1, 0, 1, 2, 3, -1, -1});
  expect_padded("edge", {0, 0, 0, 0, 1, 2, 3, 3, 3});
  expect_padded("reflect", {3, 2, 1, 0, 1, 2, 3, 2, 1});
  expect_padded("wrap", {1, 2, 3, 0, 1, 2, 3, 0, 1});
}

TEST(Pad, WithNegativePadsCuts) {
  OperatorFixture op("Pad", 13);
  op.data({2, 3}).integers({6}, {0, -1, 1, 0, 0, -1}).numbers({}, {7});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 1, 3)");
  expect_computes(op, y, entries_of({-1, 3, 4}, 7));
}

TEST(Pad, OfOpset2AndOfSomeAxes) {
  OperatorFixture attributes("Pad", 2);
  attributes.with("pads", {0, 1, 0, 0}).with("value", 0.5).data({2});
  const onnx::Value y = attributes.result();
  expect_computes(attributes, y, entries_of({-1, 0, 1}, 0.5));
  OperatorFixture some("Pad", 18);
  some.data({2, 2}).integers({2}, {0, 1}).left_out().integers({1}, {-1});
  const onnx::Value z = some.result();
  EXPECT_EQ(text(z.axes), "(N, 2, 3)");
  expect_computes(some, z, entries_of({0, 1, -1, 2, 3, -1}));
}

TEST(Pad, WithANumberThatIsAParameter) {
  OperatorFixture op("Pad", 13);
  op.data({2}).integers({4}, {0, 1, 0, 1}).parameter({1});
  const onnx::Value y = op.result();
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return std::vector<T>{theta(0), T(x[0]), T(x[1]), theta(0)};
  });
}

TEST(Pad, KeepsShapesKnown) {
  OperatorFixture op("Pad", 13);
  op.integers({2}, {0, 3}, {1, 0}).integers({2}, {1, 0}).integers({}, {5});
  const onnx::Value y = op.result();
  ASSERT_TRUE(y.is_known());
  EXPECT_EQ(y.integers->base, (std::vector<std::int64_t>{5, 0, 3}));
  EXPECT_EQ(y.integers->slope(1), 1);
}

TEST(Pad, KeepsIntegersOf64Bits) {
  constexpr std::int64_t kMostOf64Bits = std::numeric_limits<std::int64_t>::max();
  OperatorFixture op("Pad", 13);
  op.integers({1}, {kMostOf64Bits - 1}).integers({2}, {1, 0}).integers({}, {kMostOf64Bits});
  EXPECT_EQ(op.result().integers->base,
            (std::vector<std::int64_t>{kMostOf64Bits, kMostOf64Bits - 1}));
  OperatorFixture fraction("Pad", 2);
  fraction.with("pads", {1, 0}).with("value", 0.5).integers({1}, {3});
  expect_refused(fraction, "fills known integers with 0.5");
}

TEST(Pad, SaysWhatIsWrong) {
  const auto refused = [](auto prepare, const std::string& why) {
    OperatorFixture op("Pad", 18);
    op.data({4});
    prepare(op);
    expect_refused(op, why);
  };
  refused([](auto&) {}, "has no pads");
  refused([](auto& op) { op.integers({2}, {1, 1}); }, "2 pads are given for 2 axes");
  refused([](auto& op) { op.integers({4}, {1, 0, 0, 0}); }, "pads axis 0 of (N, 4), the batch (N)");
  refused([](auto& op) { op.integers({4}, {0, -3, 0, -1}); }, "without entries");
  refused(
      [](auto& op) {
        op.with("mode", "edge").integers({4}, {0, -4, 0, 1});
      },
      "nothing is left of axis 1 to pad with");
  refused(
      [](auto& op) {
        op.with("mode", "mirror").integers({4}, {0, 0, 0, 1});
      },
      "mode 'mirror' is none of");
  refused([](auto& op) { op.integers({4}, {0, 0, 0, 1'000'000'000}); }, "is too large");
  refused(
      [](auto& op) {
        op.integers({4}, {0, 0, 0, 1}).numbers({2}, {1, 2});
      },
      "pads with (2,), no single number");
}

// --- blocks ---

TEST(DepthToSpace, InBothOrders) {
  const auto expect_moved = [](const char* mode, const std::vector<int>& sources) {
    OperatorFixture op("DepthToSpace", 13);
    op.with("blocksize", 2).with("mode", mode).data({8, 1, 1});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 2, 2, 2)");
    expect_computes(op, y, entries_of(sources));
  };
  expect_moved("DCR", {0, 2, 4, 6, 1, 3, 5, 7});
  expect_moved("CRD", {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(SpaceToDepth, TakesBlocksApart) {
  OperatorFixture op("SpaceToDepth", 13);
  op.with("blocksize", 2).data({1, 2, 4});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 4, 1, 2)");
  expect_computes(op, y, entries_of({0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Blocks, SayWhatDoesNotFit) {
  OperatorFixture depth("DepthToSpace");
  depth.with("blocksize", 2).data({6, 1, 1});
  expect_refused(depth, "blocks of 2 x 2 do not divide the channels of (N, 6, 1, 1)");
  OperatorFixture space("SpaceToDepth");
  space.with("blocksize", 2).data({1, 3, 2});
  expect_refused(space, "blocks of 2 x 2 do not divide (N, 1, 3, 2)");
  OperatorFixture none("SpaceToDepth");
  none.data({1, 2, 2});
  expect_refused(none, "blocksize 0 is not from 1");
  OperatorFixture batch("DepthToSpace");
  batch.with("blocksize", 1).data_with_axes({{.size = 1}, onnx::kBatchAxis, {.size = 1}, {}});
  expect_refused(batch, "moves blocks along axis 1 of (1, N, 1, 1), the batch (N)");
}

}  // namespace
}  // namespace hesscope
