// SPDX-License-Identifier: BSD-3-Clause
//
// Integers that data tell stay integers, so that they are divided as such.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::ElementKind;
using test::add_indices;
using test::expect_computes;
using test::index_at;
using test::OperatorFixture;

constexpr std::int64_t kCount = 12;

TEST(ElementwiseOperators, MakeIntegersOfIntegers) {
  for (const std::string name : {"Abs", "Neg", "Relu", "Sign"}) {
    OperatorFixture op(name);
    add_indices(op, {3}, kCount);
    EXPECT_EQ(op.result().kind, ElementKind::kInteger) << name;
  }
  for (const std::string name : {"Add", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Sum"}) {
    OperatorFixture op(name);
    add_indices(op, {3}, kCount);
    EXPECT_EQ(op.integers({}, {5}).result().kind, ElementKind::kInteger) << name;
  }
  OperatorFixture clip("Clip");
  add_indices(clip, {3}, kCount);
  EXPECT_EQ(clip.integers({}, {2}).integers({}, {9}).result().kind, ElementKind::kInteger);
}

TEST(ElementwiseOperators, KeepNumbersNumbers) {
  for (const std::string name : {"Abs", "Neg", "Relu", "Sign"}) {
    OperatorFixture op(name);
    EXPECT_EQ(op.parameter({3}).result().kind, ElementKind::kReal) << name;
  }
}

TEST(Div, OfIntegersIsTowardsZero) {
  for (const std::int64_t divisor : {1, 3, -5, 12, 40}) {
    OperatorFixture op("Div");
    add_indices(op, {3}, kCount);
    const onnx::Value y = op.integers({}, {divisor}).result();
    expect_computes(op, y, [&](const auto& x, const double* record) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      std::vector<T> entries;
      for (int e = 0; e < 3; ++e) {
        entries.emplace_back(static_cast<double>(index_at(record[e], kCount) / divisor));
      }
      return entries;
    });
  }
}

TEST(Cast, MakesALowIntegerOfWhatIsNone) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  OperatorFixture op("Cast");
  const onnx::Value y = op.with("to", 7)
                            .numbers({6}, {-kInfinite, kInfinite, std::nan(""), 1e19, 2.7, -2.7})
                            .result();
  ASSERT_TRUE(y.is_known());
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min() / 2;
  EXPECT_EQ(y.integers->base, (std::vector<std::int64_t>{kLow, kLow, kLow, kLow, 2, -2}));
}

}  // namespace
}  // namespace hesscope
