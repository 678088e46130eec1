// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/sampling/sampler.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;

// Records of (x0, x1 | class 0, 1, 2 | sign).
Model model() {
  ModelBuilder b("fresh");
  const Var w = b.parameter("w", {2});
  const Var v = b.parameter("v", {3});
  const Var x = b.array("x", {2});
  const Var c = b.one_hot("c", 3);
  const Var y = b.array("y", {}, DataArray::Content::kSign);
  return b.finish(square(matmul_tn(w, x) + matmul_tn(v, c) - y));
}

// In another order, with an array that no model asks for.
class Arrays final : public Sampler {
 public:
  explicit Arrays(double sign = 1, std::int64_t width = 2) : sign_(sign) {
    add_array("y", {});
    add_array("unused", {2});
    add_array("c", {});
    add_array("x", {width});
  }

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override {
    RandomStream random(seed, stream, index);
    random.normal(record);
    record[0] = random.below(2) == 0 ? sign_ : -sign_;
    record[3] = static_cast<double>(random.below(3));
  }

 private:
  double sign_;
};

// One sample after the other, by hand.
SampleTable by_hand(const FreshSamples::Range& range) {
  SampleTable table = SampleTable::Zero(range.count, 6);
  std::vector<double> record(6);
  for (Eigen::Index i = 0; i < range.count; ++i) {
    Arrays().draw(range.seed, range.stream, range.first + static_cast<std::uint64_t>(i), record);
    table(i, 0) = record[4];
    table(i, 1) = record[5];
    table(i, 2 + static_cast<Eigen::Index>(record[3])) = 1;
    table(i, 5) = record[0];
  }
  return table;
}

TEST(FreshSamples, HaveTheLossOfTheSameSamplesHeld) {
  const Arrays sampler;
  const VectorXd theta = VectorXd::LinSpaced(5, -1, 2);
  for (const int threads : {1, 3}) {
    const GraphObjective objective(model(), SampleTable::Ones(1, 6), {.num_threads = threads});
    const auto fresh = fresh_samples(objective, sampler, "sampler");
    EXPECT_EQ(fresh->num_parameters(), 5);
    for (const FreshSamples::Range& range :
         {FreshSamples::Range{.seed = 3, .stream = Stream::kNoise, .first = 17, .count = 1},
          FreshSamples::Range{.seed = 4, .stream = Stream::kTraining, .first = 0, .count = 64},
          FreshSamples::Range{.seed = 3, .stream = Stream::kNoise, .first = 1, .count = 1000}}) {
      const GraphObjective held(model(), by_hand(range), {.num_threads = 2});
      const auto expected = held.value_and_gradient(theta, held.all_samples());
      const auto found = fresh->value_and_gradient(theta, range);
      EXPECT_EQ(found.value, expected.value);
      EXPECT_EQ(found.gradient, expected.gradient);
    }
  }
}

// With more samples than are drawn at once, beginning in the middle of the stream.
TEST(FreshSamples, HaveTheHessianOfTheSameSamplesHeld) {
  const Arrays sampler;
  const VectorXd theta = VectorXd::LinSpaced(5, -1, 2);
  const FreshSamples::Range range = {
      .seed = 3, .stream = Stream::kPopulation, .first = 5, .count = 20'000};
  const GraphObjective held(model(), by_hand(range), {.num_threads = 2});
  const Eigen::MatrixXd expected = held.hessian(theta);
  Eigen::MatrixXd before;
  for (const int threads : {1, 3}) {
    const GraphObjective objective(model(), SampleTable::Ones(1, 6), {.num_threads = threads});
    const auto fresh = fresh_samples(objective, sampler, "sampler");
    const Eigen::MatrixXd found = fresh->hessian(theta, range, {});
    EXPECT_LE((found - expected).norm(), 1e-13 * expected.norm());
    EXPECT_EQ(found, found.transpose());
    if (before.size() > 0) {
      EXPECT_EQ(found, before);
    }
    before = found;
    for (const Eigen::Index i : {0, 4}) {
      const VectorXd entries = fresh->hessian_entries(theta, range, i);
      ASSERT_EQ(entries.size(), range.count);
      EXPECT_NEAR(entries.mean(), expected(i, i), 1e-12 * expected.norm());
      for (const Eigen::Index sample : {0, 2047, 2048, 19'999}) {
        EXPECT_NEAR(entries[sample],
                    held.hessian(theta, {sample, sample + 1}, {})(i, i),
                    1e-13 * expected.norm());
      }
    }
  }
}

TEST(FreshSamples, AreTakenByTheEngineThatTheObjectiveWasToldToTake) {
  const Arrays sampler;
  const VectorXd theta = VectorXd::LinSpaced(5, -1, 2);
  const FreshSamples::Range range = {
      .seed = 3, .stream = Stream::kPopulation, .first = 0, .count = 1000};
  const GraphObjective::Options options = {
      .num_threads = 1, .use_structure = false, .instruction_set = InstructionSet::kBaseline};
  const GraphObjective objective(model(), SampleTable::Ones(1, 6), options);
  const GraphObjective held(model(), by_hand(range), options);
  EXPECT_EQ(fresh_samples(objective, sampler, "sampler")->hessian(theta, range, {}),
            held.hessian(theta));
  EXPECT_FALSE(objective.options_alone().use_structure);
  EXPECT_EQ(objective.options_alone().instruction_set, InstructionSet::kBaseline);
  EXPECT_EQ(objective.options_alone().num_threads, 1);
}

TEST(FreshSamples, RefuseHessiansOfNothing) {
  const GraphObjective objective(model(), SampleTable::Ones(1, 6), {.num_threads = 1});
  const Arrays sampler;
  const auto fresh = fresh_samples(objective, sampler, "sampler");
  test::expect_refusal([&] { fresh->hessian(VectorXd::Zero(4), {.count = 1}, {}); },
                       "theta must have 5 entries");
  test::expect_refusal([&] { fresh->hessian(VectorXd::Zero(5), {.count = 0}, {}); },
                       "must have samples, got 0");
  test::expect_refusal([&] { fresh->hessian_entries(VectorXd::Zero(5), {.count = 1}, 5); },
                       "i must be in [0, 5), got 5");
}

TEST(FreshSamples, RefuseWhatDoesNotFit) {
  const GraphObjective objective(model(), SampleTable::Ones(1, 6), {.num_threads = 1});
  const Arrays sampler;
  const auto fresh = fresh_samples(objective, sampler, "sampler");
  test::expect_refusal([&] { fresh->value_and_gradient(VectorXd::Zero(4), {.count = 1}); },
                       "theta must have 5 entries");
  test::expect_refusal([&] { fresh->value_and_gradient(VectorXd::Zero(5), {.count = 0}); },
                       "there must be samples");
  const Arrays wide(1, 3);
  test::expect_refusal<InputError>([&] { fresh_samples(objective, wide, "p.toml"); },
                                   "p.toml: array 'x': expected shape (samples, 2)");
  const Arrays bad_sign(2);
  const auto bad = fresh_samples(objective, bad_sign, "p.toml");
  test::expect_refusal<InputError>(
      [&] { bad->value_and_gradient(VectorXd::Zero(5), {.first = 7, .count = 1}); },
      "p.toml: array 'y', sample 7: expected +1 or -1, found ");
}

}  // namespace
}  // namespace hesscope
