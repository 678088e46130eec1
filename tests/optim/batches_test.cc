// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/optim/batches.h>
#include <hesscope/optim/initialization.h>
#include <hesscope/sampling/linear_regression.h>

#include "optim/rules.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::expect_refusal;
using test::numbers;

constexpr std::int64_t kDimension = 3;
constexpr std::int64_t kContext = 4;

class BatchesTest : public testing::Test {
 protected:
  const Model model = linear_attention({.layers = 2, .dimension = kDimension, .context = kContext});
  const LinearRegression sampler{{.dimension = kDimension, .context = kContext}};
  const SampledRecords records{model, sampler};
  const VectorXd theta = 0.3 * numbers(model.num_parameters(), 1);

  GraphObjective objective(int num_threads = 1) const {
    return {model, records.table(99, Stream::kEvaluation, 3), {.num_threads = num_threads}};
  }

  // Samples [first, first + count) of a seed's training, made one by one.
  SampleTable drawn(std::uint64_t seed, std::uint64_t first, Eigen::Index count) const {
    SampleTable table(count, model.record_size());
    for (Eigen::Index i = 0; i < count; ++i) {
      sampler.draw(seed,
                   Stream::kTraining,
                   first + static_cast<std::uint64_t>(i),
                   {table.row(i).data(), static_cast<std::size_t>(table.cols())});
    }
    return table;
  }
};

TEST_F(BatchesTest, FreshOnesAreSamplesByNumberWhateverTheThreads) {
  constexpr Eigen::Index kBatch = 150;
  const GraphObjective one = objective(1);
  const GraphObjective three = objective(3);
  const auto a = fresh_batches(one, sampler, 7, kBatch);
  const auto b = fresh_batches(three, sampler, 7, kBatch);
  for (const std::int64_t step : {5, 0, 2}) {  // any order
    const GraphObjective expected(model,
                                  drawn(7, static_cast<std::uint64_t>(step * kBatch), kBatch));
    const auto [loss, gradient] = expected.value_and_gradient(theta, expected.all_samples());
    for (BatchLoss* losses : {a.get(), b.get()}) {
      const auto found = losses->value_and_gradient(theta, step);
      EXPECT_EQ(found.value, loss);
      EXPECT_EQ(found.gradient, gradient);
    }
  }
}

TEST_F(BatchesTest, ShuffledOnesVisitEverySampleOnceInAnEpoch) {
  constexpr Eigen::Index kSamples = 10;
  constexpr Eigen::Index kBatch = 4;
  const GraphObjective any = objective();
  const auto table = std::make_shared<SampleTable>(drawn(3, 0, kSamples));
  const auto losses = shuffled_batches(any, table, 5, kBatch);
  const GraphObjective fixed(model, *table);
  const double mean = fixed.value(theta);
  std::set<double> first_batches;
  for (int epoch = 0; epoch < 6; ++epoch) {
    const Eigen::Index sizes[] = {4, 4, 2};
    double sum = 0;
    for (int b = 0; b < 3; ++b) {
      const double loss = losses->value_and_gradient(theta, 3 * epoch + b).value;
      sum += static_cast<double>(sizes[b]) * loss;
      if (b == 0) first_batches.insert(loss);
    }
    EXPECT_NEAR(sum / kSamples, mean, 1e-14 * mean);
  }
  EXPECT_GE(first_batches.size(), 5U);  // of epochs in different orders
}

TEST_F(BatchesTest, ShuffledOnesFollowFisherAndYatesOnTheirStream) {
  const GraphObjective any = objective();
  const auto table = std::make_shared<SampleTable>(drawn(3, 0, 5));
  const auto losses = shuffled_batches(any, table, 8, 1);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<Eigen::Index> order = {0, 1, 2, 3, 4};
    RandomStream stream(8, Stream::kOrder, epoch);
    for (std::size_t i = 4; i > 0; --i) std::swap(order[i], order[stream.below(i + 1)]);
    for (std::size_t i = 0; i < 5; ++i) {
      const GraphObjective sample(model, table->row(order[i]));
      const auto step = static_cast<std::int64_t>(5 * epoch + i);
      EXPECT_EQ(losses->value_and_gradient(theta, step).value, sample.value(theta));
    }
  }
}

TEST_F(BatchesTest, OfAllSamplesAreTheObjectiveItself) {
  const GraphObjective fixed(model, drawn(3, 0, 70));
  const auto full = full_batches(fixed);
  const auto shuffled =
      shuffled_batches(fixed, std::make_shared<SampleTable>(drawn(3, 0, 70)), 1, 70);
  const auto expected = fixed.value_and_gradient(theta, fixed.all_samples());
  for (const std::int64_t step : {0, 1, 9}) {
    EXPECT_EQ(full->value_and_gradient(theta, step).gradient, expected.gradient);
    EXPECT_EQ(shuffled->value_and_gradient(theta, step).gradient, expected.gradient);
  }
}

// All refer to the objective: of a temporary nothing would be left.
template <typename T>
concept TakenByFull = requires(T&& o) {
  full_batches(std::forward<T>(o));
};

template <typename T>
concept TakenByFresh = requires(T&& o, const Sampler& sampler) {
  fresh_batches(std::forward<T>(o), sampler, 0, 1);
};

template <typename T>
concept TakenByShuffled = requires(T&& o) {
  shuffled_batches(std::forward<T>(o), nullptr, 0, 1);
};

static_assert(TakenByFull<const GraphObjective&> && !TakenByFull<GraphObjective>);
static_assert(TakenByFresh<const GraphObjective&> && !TakenByFresh<GraphObjective>);
static_assert(TakenByShuffled<const GraphObjective&> && !TakenByShuffled<GraphObjective>);

TEST_F(BatchesTest, RefuseWhatDoesNotFit) {
  const GraphObjective any = objective();
  expect_refusal([&] { fresh_batches(any, sampler, 0, 0); },
                 "batch_size must be at least 1, got 0");
  expect_refusal([&] { shuffled_batches(any, nullptr, 0, 1); }, "non-empty table");
  expect_refusal([&] { shuffled_batches(any, std::make_shared<SampleTable>(2, 3), 0, 1); },
                 "non-empty table of 21 columns");
  const LinearRegression wide({.dimension = kDimension + 1, .context = kContext});
  expect_refusal<InputError>([&] { fresh_batches(any, wide, 0, 1); },
                             "the sampler: array 'Z': expected shape");
  expect_refusal(
      [&] { any.value_and_gradient_of(theta.head(2), 4, [](SampleRange, std::span<double>) {}); },
      "value_and_gradient_of: theta must have 36 entries");
  for (const auto& batches :
       {fresh_batches(any, sampler, 1, 2), shuffled_batches(any, any.shared_samples(), 1, 2)}) {
    expect_refusal([&] { batches->value_and_gradient(theta, -1); }, "count from 0, got -1");
  }
}

// Samples with classes, signs and numbers, in another order than the model's.
class Labels final : public Sampler {
 public:
  explicit Labels(double label) : label_(label) {
    add_array("target", {});
    add_array("unused", {2});
    add_array("inputs", {2});
  }

  void draw(std::uint64_t, Stream, std::uint64_t index, std::span<double> record) const override {
    const auto i = static_cast<double>(index);
    const double values[] = {label_ < 0 ? std::fmod(i, 3) : label_, -1, -2, 10 * i, 10 * i + 1};
    std::copy(std::begin(values), std::end(values), record.begin());
  }

 private:
  double label_;
};

TEST(SampledRecords, PutAModelsArraysInItsOrderAndExpandClasses) {
  const Model model = mlp({.widths = {2, 3}, .loss = MlpLoss::kCrossEntropy});
  const Labels sampler(-1);
  const SampleTable table = SampledRecords(model, sampler).table(0, Stream::kTraining, 4);
  SampleTable expected(4, 5);
  expected << 0, 1, 1, 0, 0, 10, 11, 0, 1, 0, 20, 21, 0, 0, 1, 30, 31, 1, 0, 0;
  EXPECT_EQ(table, expected);
  const Labels wrong(3);
  expect_refusal<InputError>(
      [&] { SampledRecords(model, wrong, "x.toml:3").table(0, Stream::kTraining, 1); },
      "x.toml:3: array 'target', sample 0: expected a class index 0 ... 2, found 3");
}

TEST(SampledRecords, AreEmptyForAModelWithoutArrays) {
  ModelBuilder b("no data");
  const Model model = b.finish(sum(square(b.parameter("W", {2}))));
  const Labels sampler(-1);
  const SampleTable table = SampledRecords(model, sampler).table(0, Stream::kTraining, 4);
  EXPECT_EQ(table.rows(), 4);
  EXPECT_EQ(table.cols(), 0);
}

Settings settings_of(const std::string& distribution, const test::SettingMap& values) {
  for (const InitialDistributionKind& kind : initial_distribution_kinds()) {
    if (kind.name == distribution) return Settings::checked(values, kind.keys, distribution);
  }
  throw std::logic_error("no such distribution");
}

InitialDistribution distribution(const std::string& name, const test::SettingMap& values = {}) {
  return {name, settings_of(name, values)};
}

TEST(InitialParameters, ComeFromTheStreamOfTheirBlock) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const Initialization initialization = {
      .otherwise = distribution("normal", {{"std", 0.5}}),
      .patterns = {{"?", distribution("constant", {{"value", 3.0}})},
                   {"H", distribution("uniform", {{"low", -1.0}, {"high", 3.0}})},
                   {"W*", distribution("fan-in-uniform")}}};
  const VectorXd theta = initial_parameters(blocks, initialization, 21);
  RandomStream w(21, Stream::kInitialization, 0);
  const double bound = 1 / std::sqrt(2.0);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(theta[i], bound * (2 * w.uniform() - 1), 1e-15);
  EXPECT_EQ(theta.segment(6, 4), VectorXd::Constant(4, 3.0));
  RandomStream h(21, Stream::kInitialization, 2);
  for (int i = 10; i < 22; ++i) EXPECT_NEAR(theta[i], 4 * h.uniform() - 1, 1e-15);
  const VectorXd normal = initial_parameters(blocks, {initialization.otherwise, {}}, 21);
  RandomStream b(21, Stream::kInitialization, 1);
  for (int i = 6; i < 10; ++i) EXPECT_EQ(normal[i], 0.5 * b.normal());
  EXPECT_NE(normal, initial_parameters(blocks, {initialization.otherwise, {}}, 22));
}

TEST(InitialParameters, AreRefusedWhereTheyAreNoDoubles) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  for (const auto& wide : {distribution("normal", {{"std", 1.7e308}}),
                           distribution("uniform", {{"low", -1e308}, {"high", 1e308}})}) {
    EXPECT_THROW(initial_parameters(blocks, {wide, {}}, 21), ConfigError) << wide.name;
  }
}

TEST(InitialParameters, AreTheModelsOwnWhereNothingIsSaid) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const VectorXd own = VectorXd::LinSpaced(blocks.back().offset + blocks.back().size, 1, 2);
  EXPECT_EQ(initial_parameters(blocks, {}, 3, own), own);
  VectorXd some = own;
  some.segment(blocks[1].offset, blocks[1].size).setConstant(7);
  EXPECT_EQ(
      initial_parameters(
          blocks, {{}, {{blocks[1].name, distribution("constant", {{"value", 7.0}})}}}, 3, own),
      some);
  expect_refusal<PreconditionError>([&] { initial_parameters(blocks, {}, 3); }, "no distribution");
}

TEST(InitialParameters, OfABiasHaveTheFanInOfItsWeight) {
  const std::vector<ParameterBlock> blocks = {{"a.weight", {2, 16}, 0, 32},
                                              {"a.bias", {200}, 32, 200}};
  const VectorXd theta = initial_parameters(blocks, {distribution("fan-in-uniform"), {}}, 1);
  EXPECT_LE(test::largest_magnitude(theta), 0.25);
  EXPECT_GT(test::largest_magnitude(theta.tail(200)), 0.24);
  EXPECT_NEAR(theta.tail(200).squaredNorm() / 200, 0.25 * 0.25 / 3, 0.004);
}

TEST(InitialParameters, AreZeroWhereThereAreNoInputs) {
  const std::vector<ParameterBlock> blocks = {{"a.weight", {3, 0}, 0, 0}, {"a.bias", {3}, 0, 3}};
  EXPECT_EQ(initial_parameters(blocks, {distribution("fan-in-uniform"), {}}, 1), VectorXd::Zero(3));
}

// Kernels of a convolution with 3 channels, 2 x 4 each; stacks of matrices use their columns.
TEST(InitialParameters, OfAKernelHaveAllInputsOfAnOutput) {
  const std::vector<ParameterBlock> blocks = {{"c.weight", {20, 3, 2, 4}, 0, 480},
                                              {"c.bias", {200}, 480, 200},
                                              {"WQ", {5, 8, 16}, 680, 640}};
  const VectorXd theta = initial_parameters(blocks, {distribution("fan-in-uniform"), {}}, 1);
  const auto expect_bound = [&](int b, double bound) {
    const ParameterBlock& block = blocks[static_cast<std::size_t>(b)];
    const VectorXd drawn = theta.segment(block.offset, block.size);
    EXPECT_LE(test::largest_magnitude(drawn), bound) << block.name;
    EXPECT_GT(test::largest_magnitude(drawn), 0.97 * bound) << block.name;
  };
  expect_bound(0, 1 / std::sqrt(24.0));
  expect_bound(1, 1 / std::sqrt(24.0));
  expect_bound(2, 0.25);
}

TEST(InitialParameters, RefuseWhatCannotBe) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const auto draw = [&](const InitialDistribution& otherwise, const std::string& pattern = "W") {
    initial_parameters(blocks, {otherwise, {{pattern, distribution("fan-in-uniform")}}}, 0);
  };
  expect_refusal<ConfigError>([&] { draw(distribution("normal", {{"std", -1.0}})); }, "'std'");
  expect_refusal<ConfigError>(
      [&] {
        draw(distribution("uniform", {{"low", 1.0}, {"high", 0.5}}));
      },
      "'high'");
  expect_refusal<ConfigError>([&] { draw(distribution("fan-in-uniform")); },
                              "parameter 'b' has no columns");
  expect_refusal<ConfigError>(
      [&] {
        draw(distribution("normal", {{"std", 1.0}}), "V");
      },
      "no parameter is named 'V'");
}

}  // namespace
}  // namespace hesscope
