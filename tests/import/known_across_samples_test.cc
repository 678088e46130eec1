// SPDX-License-Identifier: BSD-3-Clause
//
// Integers that are known while importing and lie along the batch, as ones_like() of tokens: there
// are N times as many of them as one sample has. What counts or picks among them is refused.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using test::expect_refused;
using test::OperatorFixture;

// (N, 2) ones.
onnx::Value ones() {
  return {.kind = onnx::ElementKind::kInteger,
          .axes = {onnx::kBatchAxis, {.size = 2}},
          .integers = std::make_shared<const onnx::Integers>(onnx::Integers{.base = {1, 1}})};
}

// (N) numbers.
onnx::Value numbers(std::int64_t number) {
  return {.kind = onnx::ElementKind::kInteger,
          .axes = {onnx::kBatchAxis},
          .integers = std::make_shared<const onnx::Integers>(onnx::Integers{.base = {number}})};
}

void refuses(const std::string& op,
             const std::function<void(OperatorFixture&)>& give,
             const std::string& why) {
  SCOPED_TRACE(op);
  OperatorFixture fixture(op);
  give(fixture);
  expect_refused(fixture, why);
}

TEST(KnownAcrossSamples, AreNotReduced) {
  for (const char* op : {"ReduceSum", "ReduceMax"}) {
    refuses(
        op, [](auto& o) { o.value(ones()); }, "reduces axis 0 of (N, 2), the batch (N)");
  }
  refuses(
      "ReduceProd",
      [](auto& o) { o.with("axes", {0}).value(ones()); },
      "reduces axis 0 of (N, 2), the batch (N)");
  OperatorFixture within("ReduceSum");
  within.value(ones()).integers({1}, {1});
  EXPECT_EQ(within.result().integers->base, (std::vector<std::int64_t>{2}));
}

TEST(KnownAcrossSamples, AreNotComparedOrCounted) {
  refuses(
      "NonZero", [](auto& o) { o.value(ones()); }, "has entries (N, 2) for each sample");
  refuses(
      "ArgMax",
      [](auto& o) { o.with("select_last_index", 1).value(ones()); },
      "compares entries along axis 0 of (N, 2), the batch (N)");
  refuses(
      "TopK",
      [](auto& o) { o.with("axis", 0).value(ones()).integers({1}, {1}); },
      "compares entries along axis 0 of (N, 2), the batch (N)");
  refuses(
      "Compress",
      [](auto& o) { o.with("axis", 0).parameter({3}).value(numbers(1)); },
      "input 2 has entries (N,) for each sample");
}

TEST(KnownAcrossSamples, AreNoShapes) {
  for (const char* op : {"Reshape", "Expand", "Tile"}) {
    refuses(
        op,
        [](auto& o) { o.parameter({1}).value(numbers(1)); },
        "input 2 has entries (N,) for each sample");
  }
  refuses(
      "ConstantOfShape",
      [](auto& o) { o.value(numbers(1)); },
      "input 1 has entries (N,) for each sample");
  EXPECT_EQ(numbers(1).single_integer(), std::nullopt);
}

}  // namespace
}  // namespace hesscope
