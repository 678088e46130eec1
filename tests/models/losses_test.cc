// SPDX-License-Identifier: BSD-3-Clause
//
// Losses against their definitions, written once more in plain loops with PyTorch's normalisation.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/losses.h>
#include <hesscope/objective/graph_objective.h>

#include "models/loss_data.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Extents = std::vector<std::int64_t>;
using test::kLossOutputs;
using test::kLossSamples;
using test::LossData;
using test::shapes_of;

GraphObjective objective_of(const LossData& data,
                            const LossOptions& options,
                            const Extents& shape) {
  const TensorShapes shapes = shapes_of(data);
  ModelBuilder b("test");
  const Var w = b.parameter("w", {kLossOutputs});
  Var z = hadamard(w, b.array("inputs", {kLossOutputs}));
  const Eigen::Index cols = shape.empty() ? 1 : shape.back();
  z = reshape(z, kLossOutputs / cols, cols);
  b.set_prediction(z);
  Model model = b.finish(record_loss(b, options, z, shape, "target", shapes));
  SampleTable samples = make_sample_table(model, kLossSamples, shapes.read, shapes.source);
  return {std::move(model), std::move(samples)};
}

double loss_of(const LossData& data, const LossOptions& options, const Extents& shape) {
  return objective_of(data, options, shape).value(data.theta);
}

void expect_loss(const LossData& data,
                 const LossOptions& options,
                 const Extents& shape,
                 double expected) {
  const double found = loss_of(data, options, shape);
  EXPECT_TRUE(std::abs(found - expected) <= 1e-14 * (1 + std::abs(expected)))
      << found << ", expected " << expected;
}

// log softmax of class c among C, `stride` apart.
double log_probability(const std::function<double(int)>& z, int num_classes, int c) {
  double total = 0;
  for (int k = 0; k < num_classes; ++k) total += std::exp(z(k));
  return z(c) - std::log(total);
}

TEST(Losses, MeanSquaredErrorAndHuberAreMeansOverSamplesAndOutputs) {
  LossData data;
  data.target_shape = {kLossSamples, 2, 3};
  const SampleTable t = test::Numbers(5).table(kLossSamples, kLossOutputs) * 2;
  data.target.assign(t.data(), t.data() + t.size());
  constexpr double kDelta = 0.7;
  double square = 0;
  double huber = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    for (Eigen::Index e = 0; e < kLossOutputs; ++e) {
      const double r = std::abs(data.z(i, e) - t(i, e));
      square += r * r / (kLossSamples * kLossOutputs);
      huber +=
          (r <= kDelta ? r * r / 2 : kDelta * (r - kDelta / 2)) / (kLossSamples * kLossOutputs);
    }
  }
  expect_loss(data, {.kind = LossKind::kMeanSquaredError}, {2, 3}, square);
  expect_loss(data, {.kind = LossKind::kHuber, .delta = kDelta}, {2, 3}, huber);
}

TEST(Losses, BinaryCrossEntropyWeighsPositiveTargets) {
  LossData data;
  data.target_shape = {kLossSamples, kLossOutputs};
  for (Eigen::Index e = 0; e < kLossSamples * kLossOutputs; ++e) {
    data.target.push_back(e % 3 == 0 ? 1 : e % 3 == 1 ? 0 : 0.25);
  }
  const std::vector<double> weights = {1, 2, 0.5, 3, 1.5, 4};
  double plain = 0;
  double weighted = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    for (Eigen::Index e = 0; e < kLossOutputs; ++e) {
      const double t = data.target[static_cast<std::size_t>(i * kLossOutputs + e)];
      const double s = 1 / (1 + std::exp(-data.z(i, e)));
      const double n = kLossSamples * kLossOutputs;
      plain += -(t * std::log(s) + (1 - t) * std::log(1 - s)) / n;
      weighted +=
          -(weights[static_cast<std::size_t>(e)] * t * std::log(s) + (1 - t) * std::log(1 - s)) / n;
    }
  }
  const LossKind kind = LossKind::kBinaryCrossEntropy;
  expect_loss(data, {.kind = kind}, {kLossOutputs}, plain);
  expect_loss(data, {.kind = kind, .pos_weight = weights}, {kLossOutputs}, weighted);
  EXPECT_THROW(loss_of(data, {.kind = kind, .pos_weight = {1, 2, 3, 4}}, {kLossOutputs}),
               ConfigError);
}

// Two or three numbers divide six outputs, and still say nothing of which is for which.
TEST(Losses, WeightsOfPositiveTargetsAreOfTheLastAxes) {
  LossData data;
  data.target.assign(kLossSamples * kLossOutputs, 0.5);
  const auto of = [&](std::vector<double> weights, const Extents& shape) {
    data.target_shape = {kLossSamples};
    data.target_shape.insert(data.target_shape.end(), shape.begin(), shape.end());
    const LossOptions options{.kind = LossKind::kBinaryCrossEntropy,
                              .pos_weight = std::move(weights)};
    return loss_of(data, options, shape);
  };
  EXPECT_THROW(of({2, 3}, {kLossOutputs}), ConfigError);
  EXPECT_THROW(of({2, 3, 4}, {kLossOutputs}), ConfigError);
  EXPECT_THROW(of({2, 3}, {2, 3}), ConfigError);
  EXPECT_NEAR(of({2, 3, 4}, {2, 3}), of({2, 3, 4, 2, 3, 4}, {kLossOutputs}), 1e-14);
  EXPECT_NEAR(of({2, 3}, {3, 2}), of({2, 3, 2, 3, 2, 3}, {3, 2}), 1e-14);
}

// One class of three for each of two positions, with all keys; (2, 3) has classes last, (3, 2)
// first.
TEST(Losses, CrossEntropyCountsSmoothsAndIgnoresAsPyTorch) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples, 2};
  data.target = {0, 1, 2, -100, 1, 1, -100, 2, 0, 2};
  const std::vector<double> w = {0.5, 2, 1};
  constexpr double e = 0.1;
  for (const bool is_first : {false, true}) {
    SCOPED_TRACE(is_first);
    double sum = 0;
    double likelihood = 0;
    double weight = 0;
    for (Eigen::Index i = 0; i < kLossSamples; ++i) {
      for (int position = 0; position < 2; ++position) {
        const int y = static_cast<int>(data.target[static_cast<std::size_t>(2 * i + position)]);
        if (y < 0) continue;
        const auto z = [&](int c) {
          return data.z(i, is_first ? 2 * c + position : 3 * position + c);
        };
        weight += w[static_cast<std::size_t>(y)];
        sum -= (1 - e) * w[static_cast<std::size_t>(y)] * log_probability(z, 3, y);
        likelihood -= w[static_cast<std::size_t>(y)] * z(y);
        for (int c = 0; c < 3; ++c) {
          sum -= e / 3 * w[static_cast<std::size_t>(c)] * log_probability(z, 3, c);
        }
      }
    }
    const Extents shape = is_first ? Extents{3, 2} : Extents{2, 3};
    expect_loss(data,
                {.label_smoothing = e, .class_weights = w, .ignore_index = -100},
                shape,
                sum / weight);
    expect_loss(
        data,
        {.kind = LossKind::kNegativeLogLikelihood, .class_weights = w, .ignore_index = -100},
        shape,
        likelihood / weight);
  }
}

// What divides the loss is what the targets count: of some samples alone, what theirs do.
TEST(Losses, SamplesCountWhatTheirTargetsWeigh) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples, 2};
  data.target = {0, 1, 2, -100, 1, 1, -100, -100, 0, 2};
  const GraphObjective weighted =
      objective_of(data, {.class_weights = {0.5, 2, 1}, .ignore_index = -100}, {2, 3});
  const double weights[] = {2.5, 1, 4, 0, 1.5};  // 9 in all
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    EXPECT_NEAR(weighted.sample_weight({i, i + 1}), 5 * weights[i] / 9, 1e-15) << i;
  }
  EXPECT_NEAR(weighted.sample_weight({0, kLossSamples}), 5, 1e-14);
  EXPECT_THROW(weighted.sample_weight({3, 6}), PreconditionError);
  EXPECT_EQ(objective_of(data, {.ignore_index = -100}, {2, 3}).sample_weight({3, 4}), 0);

  LossData one;
  one.is_integer = true;
  one.target_shape = {kLossSamples};
  one.target = {0, 5, 0, 3, 0};
  const GraphObjective of_one =
      objective_of(one, {.class_weights = {1, 0, 0, 2, 0, 5}}, {kLossOutputs});
  EXPECT_NEAR(of_one.sample_weight({1, 4}), 5 * 8. / 10, 1e-15);
  EXPECT_EQ(objective_of(one, {}, {kLossOutputs}).sample_weight({1, 4}), 3);
  one.target = {0, 1, 2, 3, 4};
  EXPECT_EQ(objective_of(one, {.label_smoothing = 0.1}, {kLossOutputs}).sample_weight({1, 4}), 3);
}

// A class that is ignored counts where it is no target.
TEST(Losses, CrossEntropyMayIgnoreOneOfItsClasses) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples};
  data.target = {1, 4, 1, 0, 5};
  constexpr double e = 0.2;
  double sum = 0;
  for (const int i : {1, 3, 4}) {
    const auto z = [&](int c) { return data.z(i, c); };
    const int y = static_cast<int>(data.target[static_cast<std::size_t>(i)]);
    sum -= (1 - e) * log_probability(z, kLossOutputs, y);
    for (int c = 0; c < kLossOutputs; ++c)
      sum -= e / kLossOutputs * log_probability(z, kLossOutputs, c);
  }
  expect_loss(data, {.label_smoothing = e, .ignore_index = 1}, {kLossOutputs}, sum / 3);
}

// No table of all classes by all classes.
TEST(Losses, CostAsMuchAsThereAreLogits) {
  constexpr std::int64_t kNumClasses = 200;
  const std::vector<double> weights(kNumClasses, 2.0);
  for (const std::int64_t num_targets : {1, 3}) {
    for (const LossOptions& options :
         {LossOptions{},
          LossOptions{.label_smoothing = 0.1},
          LossOptions{.class_weights = weights},
          LossOptions{.ignore_index = -100},
          LossOptions{.label_smoothing = 0.1, .class_weights = weights, .ignore_index = 7}}) {
      const Extents shape = {num_targets, kNumClasses};
      TensorShapes data;
      data.source = "data.npz";
      data.shapes["target"] = {2, num_targets};
      data.types["target"] = io::ElementType::kInt64;
      data.read = [&](const std::string& /*name*/) {
        return std::vector<double>(static_cast<std::size_t>(2 * num_targets), 3.0);
      };
      ModelBuilder b("test");
      const Var z = b.parameter("z", shape);
      const Model model = b.finish(record_loss(b, options, z, shape, "target", data));
      Eigen::Index num_entries = 0;
      for (const Graph::Node& node : model.graph->nodes()) num_entries += node.size();
      EXPECT_LE(num_entries, 12 * num_targets * kNumClasses);
    }
  }
}

TEST(Losses, ClassesMayBeRuledOut) {
  LossData data;
  data.target_shape = {kLossSamples};
  data.is_integer = true;
  data.inputs.col(5).setConstant(-1);
  data.theta(5) = std::numeric_limits<double>::infinity();
  double cross_entropy = 0;
  double likelihood = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    const int c = static_cast<int>(i) % 5;
    data.target.push_back(c);
    const auto z = [&](int k) { return data.z(i, k); };
    cross_entropy -= log_probability(z, kLossOutputs, c) / kLossSamples;
    likelihood -= z(c) / kLossSamples;
  }
  expect_loss(data, {.kind = LossKind::kCrossEntropy}, {kLossOutputs}, cross_entropy);
  expect_loss(data, {.kind = LossKind::kNegativeLogLikelihood}, {kLossOutputs}, likelihood);
}

TEST(Losses, CrossEntropyTakesProbabilities) {
  LossData data;
  data.target_shape = {kLossSamples, kLossOutputs};
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    for (Eigen::Index c = 0; c < kLossOutputs; ++c) {
      data.target.push_back(static_cast<double>(c + 1) / 21);
    }
  }
  double sum = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    const auto z = [&](int c) { return data.z(i, c); };
    for (int c = 0; c < kLossOutputs; ++c) {
      sum -= (c + 1) / 21.0 * log_probability(z, kLossOutputs, c) / kLossSamples;
    }
  }
  expect_loss(data, {}, {kLossOutputs}, sum);
}

// Outputs 2 x 3: two classes at three places, or three at two.
TEST(Losses, ProbabilitiesAreOfClassesOnTheAxisThatIsNamed) {
  LossData data;
  data.target_shape = {kLossSamples, 2, 3};
  for (Eigen::Index e = 0; e < kLossSamples * kLossOutputs; ++e) {
    data.target.push_back(0.1 + 0.8 * static_cast<double>(e % 7) / 7);
  }
  for (const bool is_first : {true, false}) {
    const int num_classes = is_first ? 2 : 3;
    const int places = is_first ? 3 : 2;
    double sum = 0;
    for (Eigen::Index i = 0; i < kLossSamples; ++i) {
      for (int place = 0; place < places; ++place) {
        const auto entry = [&](int c) { return is_first ? 3 * c + place : 3 * place + c; };
        const auto z = [&](int c) { return data.z(i, entry(c)); };
        for (int c = 0; c < num_classes; ++c) {
          const double t = data.target[static_cast<std::size_t>(kLossOutputs * i + entry(c))];
          sum -=
              t * log_probability(z, num_classes, c) / static_cast<double>(kLossSamples * places);
        }
      }
    }
    for (const std::int64_t axis :
         is_first ? std::vector<std::int64_t>{1, -2} : std::vector<std::int64_t>{2, -1}) {
      expect_loss(data, {.class_axis = axis}, {2, 3}, sum);
    }
    if (!is_first) expect_loss(data, {}, {2, 3}, sum);
  }
}

TEST(Losses, ProbabilitiesAreOfClassesOnTheAxisAlongWhichTheyAddUpToOne) {
  LossData data;
  data.target_shape = {kLossSamples, 2, 3};
  double sum = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    for (int c = 0; c < 2; ++c) {
      for (int place = 0; place < 3; ++place) {
        const double of_first = 0.1 + 0.2 * place + 0.01 * static_cast<double>(i);
        data.target.push_back(c == 0 ? of_first : 1 - of_first);
        const auto z = [&](int other) { return data.z(i, 3 * other + place); };
        sum -= data.target.back() * log_probability(z, 2, c) / (3.0 * kLossSamples);
      }
    }
  }
  expect_loss(data, {}, {2, 3}, sum);
}

TEST(Losses, ClassesMayBeOnAnAxisBetweenOthers) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples, 3, 1};
  for (Eigen::Index e = 0; e < 3 * kLossSamples; ++e) data.target.push_back(e % 2 == 0 ? 1 : 0);
  double sum = 0;
  for (Eigen::Index i = 0; i < kLossSamples; ++i) {
    for (int place = 0; place < 3; ++place) {
      const auto z = [&](int c) { return data.z(i, 2 * place + c); };
      const int y = static_cast<int>(data.target[static_cast<std::size_t>(3 * i + place)]);
      sum -= log_probability(z, 2, y) / (3.0 * kLossSamples);
    }
  }
  expect_loss(data, {.class_axis = 2}, {3, 2, 1}, sum);
}

TEST(Losses, RefusesAClassAxisThatDoesNotFit) {
  LossData data;
  data.is_integer = true;
  data.target_shape = {kLossSamples, 3};
  for (const std::int64_t axis : {0, 3, -3}) {
    EXPECT_THROW(loss_of(data, {.class_axis = axis}, {2, 3}), ConfigError);
  }
  test::expect_refusal<InputError>(
      [&] {
        loss_of(data, {.class_axis = 2}, {2, 3});
      },
      "array 'target' has the shape (samples, 3); for outputs "
      "(samples, 2, 3) a class for each row of them (classes are on axis 2)");
}

TEST(Losses, RefusesTargetsThatAreNoProbabilities) {
  LossData data;
  data.target_shape = {kLossSamples, kLossOutputs};
  for (const double p : {-0.5, 7.0, std::nan("")}) {
    data.target.assign(kLossSamples * kLossOutputs, 0.25);
    data.target[8] = p;
    for (const LossKind kind : {LossKind::kCrossEntropy, LossKind::kBinaryCrossEntropy}) {
      test::expect_refusal<InputError>(
          [&] { loss_of(data, {.kind = kind}, {kLossOutputs}); },
          "data.npz: array 'target', sample 1: expected a probability, from 0 to 1, found ");
    }
    if (!std::isnan(p)) loss_of(data, {.kind = LossKind::kMeanSquaredError}, {kLossOutputs});
  }
}

TEST(Losses, RefusesTargetsThatDoNotFit) {
  LossData data;
  data.target_shape = {kLossSamples, 4};
  data.target.resize(kLossSamples * 4);
  EXPECT_THROW(loss_of(data, {}, {2, 3}), InputError);
  EXPECT_THROW(loss_of(data, {.kind = LossKind::kMeanSquaredError}, {2, 3}), InputError);
  EXPECT_THROW(loss_of(data, {.kind = LossKind::kOutput}, {2, 3}), InputError);
  data.target_shape = {kLossSamples};
  data.target = {0, 1, 7, 2, 3};
  EXPECT_THROW(loss_of(data, {.class_weights = std::vector<double>(6, 1.0)}, {6}), InputError);
  data.target.assign(kLossSamples, -1);
  EXPECT_THROW(loss_of(data, {.ignore_index = -1}, {6}), InputError);  // nothing counts
  EXPECT_THROW(loss_of(data, {.class_weights = {1, 2}}, {6}), ConfigError);
}

TEST(Losses, AreTrueToTheirKeys) {
  const std::vector<SettingKey> keys =
      loss_keys({LossKind::kCrossEntropy, LossKind::kMeanSquaredError});
  const auto options = [&](std::map<std::string, SettingValue> values) {
    return loss_options(Settings::checked(values, keys, "[model]"));
  };
  EXPECT_EQ(
      options({{"loss", std::string("cross-entropy")}, {"label_smoothing", 0.1}}).label_smoothing,
      0.1);
  EXPECT_THROW(options({{"loss", std::string("mse")}, {"label_smoothing", 0.1}}), ConfigError);
  EXPECT_THROW(options({{"loss", std::string("huber")}}), ConfigError);
  EXPECT_THROW(options({{"loss", std::string("cross-entropy")}, {"delta", 1.0}}), ConfigError);
}

}  // namespace
}  // namespace hesscope
