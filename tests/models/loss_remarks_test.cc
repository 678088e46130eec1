// SPDX-License-Identifier: BSD-3-Clause
//
// What losses say of outputs and targets that are likely others than was meant.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/models/losses.h>

#include "models/loss_data.h"

namespace hesscope {
namespace {

using Extents = std::vector<std::int64_t>;
using test::kLossSamples;
using test::LossData;

// What a kind computes in one go is the loss without keys: a key that does not fit must be refused.
TEST(Losses, ArePlainWithoutKeysAlone) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples};
  EXPECT_TRUE(is_plain({.kind = LossKind::kCrossEntropy}, "target", shapes_of(data)));
  const LossOptions keyed = {.kind = LossKind::kCrossEntropy, .class_axis = 7};
  EXPECT_FALSE(is_plain(keyed, "target", shapes_of(data)));
}

TEST(Losses, SayWhereClassesMayBeOnOneAxisOrAnother) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples, 4};
  const auto remark = [&](const LossOptions& options, const Extents& shape) {
    return remark_on_class_axis(options, shape, "target", shapes_of(data));
  };
  EXPECT_NE(remark({}, {4, 4}).find("class_axis = 1"), std::string::npos);
  EXPECT_NE(remark({.kind = LossKind::kNegativeLogLikelihood}, {4, 4}), "");
  EXPECT_EQ(remark({.class_axis = -1}, {4, 4}), "");
  EXPECT_EQ(remark({}, {4, 3}), "");
  EXPECT_EQ(remark({}, {3, 4}), "");
  EXPECT_EQ(remark({.kind = LossKind::kMeanSquaredError}, {4, 4}), "");
  data.is_integer = false;
  data.target_shape = {kLossSamples, 3, 4};
  EXPECT_NE(remark({}, {3, 4}), "");
  data.target_shape = {kLossSamples, 4};
  EXPECT_EQ(remark({}, {4}), "");
}

TEST(Losses, DoNotAskForTheAxisAlongWhichProbabilitiesAddUpToOne) {
  LossData data;
  data.target_shape = {1, 2, 2};
  const auto is_clear = [&](const std::vector<double>& probabilities) {
    data.target = probabilities;
    return remark_on_class_axis({}, {2, 2}, "target", shapes_of(data)).empty();
  };
  EXPECT_TRUE(is_clear({0.25, 0.5, 0.75, 0.5}));           // of columns
  EXPECT_TRUE(is_clear({0.25, 0.75, 0.5, 0.5 + 0.9e-6}));  // of rows
  EXPECT_FALSE(is_clear({0.25, 0.75, 0.75, 0.25}));        // of both
  EXPECT_FALSE(is_clear({0.25, 0.5, 0.75, 0.5 + 1.1e-6}));
  EXPECT_FALSE(is_clear({0.25, 0.5, std::nan(""), 0.5}));
  TensorShapes unread = shapes_of(data);
  unread.read = {};
  EXPECT_NE(remark_on_class_axis({}, {2, 2}, "target", unread), "");
}

TEST(Losses, SayWhatTheyWouldApplyTwice) {
  Graph g;
  const Var z = g.parameter(0, 2, 3);
  const auto remark = [](LossKind kind, Var output) {
    return remark_on_probabilities({.kind = kind}, output);
  };
  using Kind = LossKind;
  const Var turned = gather(reshape(softmax_rows(z), 3, 2), std::vector<std::int32_t>{1, 0}, 1, 2);
  for (const Var softmax : {softmax_rows(z), turned}) {
    EXPECT_NE(remark(Kind::kCrossEntropy, softmax).find("ends in softmax"), std::string::npos);
    EXPECT_NE(remark(Kind::kNegativeLogLikelihood, softmax).find("log_softmax"), std::string::npos);
    EXPECT_EQ(remark(Kind::kMeanSquaredError, softmax), "");
    EXPECT_EQ(remark(Kind::kBinaryCrossEntropy, softmax), "");
  }
  EXPECT_NE(remark(Kind::kBinaryCrossEntropy, sigmoid(z)).find("sigmoid"), std::string::npos);
  EXPECT_EQ(remark(Kind::kCrossEntropy, sigmoid(z)), "");
  for (const Kind kind :
       {Kind::kCrossEntropy, Kind::kNegativeLogLikelihood, Kind::kBinaryCrossEntropy}) {
    EXPECT_EQ(remark(kind, z), "");
    EXPECT_EQ(remark(kind, log(softmax_rows(z))), "");
  }
}

TEST(Losses, SayThatTheCrossEntropyOfOneClassIsZero) {
  const auto remark = [](LossKind kind, Eigen::Index num_outputs) {
    return remark_on_single_class({.kind = kind}, num_outputs);
  };
  EXPECT_NE(remark(LossKind::kCrossEntropy, 1).find("bce-with-logits"), std::string::npos);
  EXPECT_EQ(remark(LossKind::kCrossEntropy, 2), "");
  EXPECT_EQ(remark(LossKind::kBinaryCrossEntropy, 1), "");
  EXPECT_EQ(remark(LossKind::kMeanSquaredError, 1), "");
}

}  // namespace
}  // namespace hesscope
