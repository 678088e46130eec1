// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"
#include "support/refusal.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using test::expect_refusal;

using test::kEpsilon;

// Three layers and 43 parameters: six groups of Hessian columns, the last one of three. Without its
// structure: this is the generic engine's test.
Model network() {
  Model model = mlp({.widths = {3, 4, 3, 3},
                     .activation = Activation::kTanh,
                     .loss = MlpLoss::kMeanSquaredError});
  model.structured_hessian = nullptr;
  return model;
}

// Four blocks of samples, the last one short.
constexpr Eigen::Index kNumSamples = 200;

class GraphObjectiveTest : public testing::Test {
 protected:
  const Model model = network();
  const Eigen::Index n = model.num_parameters();
  const SampleTable samples = test::Numbers(61).table(kNumSamples, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(62).vector(n);
  const Eigen::MatrixXd V = test::Numbers(63).table(n, 11);
  const Eigen::MatrixXd U = test::Numbers(64).table(n, 11);
  const GraphObjective objective{model, samples};

  GraphObjective with_threads(int num_threads) const {
    return {model, samples, {.num_threads = num_threads}};
  }
};

TEST_F(GraphObjectiveTest, IsBitIdenticalForAnyNumberOfThreads) {
  const GraphObjective one = with_threads(1);
  for (const SampleRange range :
       {SampleRange{0, kNumSamples}, {0, 64}, {3, 140}, {63, 65}, {7, 8}}) {
    SCOPED_TRACE(testing::Message() << range.begin << " ... " << range.end);
    const auto [value, gradient] = one.value_and_gradient(theta, range);
    const Eigen::MatrixXd H = one.hessian(theta, range, {});
    for (const int threads : {2, 3, 4}) {
      const GraphObjective many = with_threads(threads);
      for (int repetition = 0; repetition < 3; ++repetition) {
        EXPECT_EQ(many.value(theta, range), one.value(theta, range));
        EXPECT_EQ(many.value_and_gradient(theta, range).value, value);
        EXPECT_EQ(many.gradient(theta, range), gradient);
        EXPECT_EQ(many.hessian(theta, range, {}), H);
        EXPECT_EQ(many.hessian_times(theta, V, range), one.hessian_times(theta, V, range));
        EXPECT_EQ(many.per_sample_gradients(theta, range), one.per_sample_gradients(theta, range));
        const Eigen::MatrixXd own = test::Numbers(8).table(n, range.size());
        EXPECT_EQ(many.per_sample_hessian_times(theta, own, range),
                  one.per_sample_hessian_times(theta, own, range));
        EXPECT_EQ(many.third_derivative_times(theta, U, V, range),
                  one.third_derivative_times(theta, U, V, range));
        EXPECT_EQ(many.line_derivatives(theta, V, range), one.line_derivatives(theta, V, range));
      }
    }
  }
}

TEST_F(GraphObjectiveTest, GivesTheSameValueWithAndWithoutTheGradient) {
  // A sum divided by 49 is not the sum times 1 / 49.
  for (Eigen::Index count = 1; count <= kNumSamples; count += 3) {
    const SampleRange range{0, count};
    EXPECT_EQ(objective.value(theta, range), objective.value_and_gradient(theta, range).value);
  }
}

TEST_F(GraphObjectiveTest, AgreesWithItself) {
  for (const SampleRange range : {SampleRange{0, kNumSamples}, {5, 76}, {199, 200}}) {
    const auto [value, gradient] = objective.value_and_gradient(theta, range);
    EXPECT_EQ(value, objective.value(theta, range));
    const Eigen::MatrixXd H = objective.hessian(theta, range, {});
    EXPECT_EQ(H, H.transpose().eval());
    const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, range);
    ASSERT_EQ(gradients.rows(), n);
    ASSERT_EQ(gradients.cols(), range.size());
    EXPECT_TRUE((gradients.rowwise().mean() - gradient).norm() <= 64 * kEpsilon * gradient.norm());
    for (const Eigen::Index k : {1, 7, 8, 9, 11}) {
      const Eigen::MatrixXd product = objective.hessian_times(theta, V.leftCols(k), range);
      EXPECT_TRUE((product - H * V.leftCols(k)).norm() <= 64 * kEpsilon * H.norm() * V.norm());
    }
    EXPECT_EQ(objective.hessian_times(theta, V.leftCols(0), range).cols(), 0);
  }
}

// Beside what an objective does that knows no better, and H v for one v, which is their mean.
TEST_F(GraphObjectiveTest, GivesTheProductOfEverySample) {
  for (const SampleRange range : {SampleRange{0, kNumSamples}, {5, 76}, {199, 200}}) {
    const Eigen::MatrixXd own = test::Numbers(8).table(n, range.size());
    const Eigen::MatrixXd products = objective.per_sample_hessian_times(theta, own, range);
    const Eigen::MatrixXd one_by_one =
        objective.Objective::per_sample_hessian_times(theta, own, range);
    for (Eigen::Index i = 0; i < range.size(); ++i) {
      const double size = one_by_one.col(i).norm();
      EXPECT_GT(size, 0.0);
      EXPECT_LE((products.col(i) - one_by_one.col(i)).norm(), 256 * kEpsilon * size) << i;
    }
    const Eigen::MatrixXd same = V.col(0).replicate(1, range.size());
    const Eigen::VectorXd mean =
        objective.per_sample_hessian_times(theta, same, range).rowwise().mean();
    const Eigen::VectorXd product = objective.hessian_times(theta, V.col(0), range);
    EXPECT_LE((mean - product).norm(), 256 * kEpsilon * one_by_one.norm());
  }
  test::expect_refusal(
      [&] {
        objective.per_sample_hessian_times(theta, V, {0, 3});
      },
      "per_sample_hessian_times: directions must have ");
}

TEST_F(GraphObjectiveTest, GivesAProductThatDoesNotDependOnItsNeighbours) {
  const Eigen::MatrixXd all = objective.hessian_times(theta, V);
  for (const Eigen::Index k : {0, 7, 8, 10}) {
    EXPECT_EQ(objective.hessian_times(theta, V.col(k)), all.col(k));
  }
}

TEST_F(GraphObjectiveTest, IsTheMeanOverItsSamplesForEveryCount) {
  // Full and padded packs, one block and two.
  std::vector<test::Derivatives> single;
  for (Eigen::Index i = 0; i < 66; ++i) {
    single.push_back(
        test::from_objective(GraphObjective{model, SampleTable(samples.row(i))}, theta));
  }
  for (const Eigen::Index count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 66}) {
    SCOPED_TRACE(count);
    test::Derivatives mean{0, Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n)};
    for (Eigen::Index i = 0; i < count; ++i) {
      const test::Derivatives& one = single[static_cast<std::size_t>(i)];
      mean.value += one.value / static_cast<double>(count);
      mean.gradient += one.gradient / static_cast<double>(count);
      mean.hessian += one.hessian / static_cast<double>(count);
    }
    const GraphObjective first{model, SampleTable(samples.topRows(count))};
    test::expect_near(test::from_objective(first, theta), mean, 64 * kEpsilon, "single samples");
    // A sub-range of the larger table is the same computation.
    const SampleRange range{0, count};
    EXPECT_EQ(objective.value(theta, range), first.value(theta));
    EXPECT_EQ(objective.gradient(theta, range), first.gradient(theta));
    EXPECT_EQ(objective.hessian(theta, range, {}), first.hessian(theta));
    EXPECT_EQ(objective.hessian_times(theta, V, range), first.hessian_times(theta, V));
    EXPECT_EQ(objective.per_sample_gradients(theta, range),
              first.per_sample_gradients(theta, {0, count}));
    for (Eigen::Index i = 0; i < count; ++i) {
      EXPECT_EQ(objective.per_sample_gradients(theta, range).col(i),
                single[static_cast<std::size_t>(i)].gradient);
    }
  }
}

TEST_F(GraphObjectiveTest, SeesOnlyTheSamplesOfItsRange) {
  SampleTable elsewhere = samples;
  elsewhere.topRows(10).setConstant(kNaN);
  elsewhere.bottomRows(kNumSamples - 91).setConstant(kInfinity);
  const GraphObjective surrounded{model, elsewhere};
  const SampleRange range{10, 91};
  EXPECT_EQ(surrounded.value(theta, range), objective.value(theta, range));
  EXPECT_EQ(surrounded.gradient(theta, range), objective.gradient(theta, range));
  EXPECT_EQ(surrounded.hessian(theta, range, {}), objective.hessian(theta, range, {}));
  EXPECT_EQ(surrounded.per_sample_gradients(theta, range),
            objective.per_sample_gradients(theta, range));
}

TEST_F(GraphObjectiveTest, LetsNoNaNSampleDisappear) {
  for (const Eigen::Index bad : {0, 2, 70, 199}) {
    SampleTable with_nan = samples;
    with_nan(bad, 1) = kNaN;
    const GraphObjective damaged{model, with_nan};
    EXPECT_TRUE(std::isnan(damaged.value(theta)));
    EXPECT_TRUE(damaged.gradient(theta).array().isNaN().all());
    EXPECT_TRUE(damaged.hessian(theta).array().isNaN().all());
    EXPECT_TRUE(damaged.hessian_times(theta, V).array().isNaN().all());
    // Its neighbours in the register keep their gradients.
    const Eigen::MatrixXd gradients = damaged.per_sample_gradients(theta, {0, kNumSamples});
    const Eigen::MatrixXd expected = objective.per_sample_gradients(theta, {0, kNumSamples});
    for (Eigen::Index i = 0; i < kNumSamples; ++i) {
      if (i == bad) {
        EXPECT_TRUE(gradients.col(i).array().isNaN().all());
      } else {
        EXPECT_EQ(gradients.col(i), expected.col(i));
      }
    }
  }
  Eigen::VectorXd nan_weight = theta;
  nan_weight(5) = kNaN;
  EXPECT_TRUE(std::isnan(objective.value(nan_weight)));
  EXPECT_TRUE(objective.hessian(nan_weight).hasNaN());
}

TEST_F(GraphObjectiveTest, AnswersSeveralCallersAtOnce) {
  const double value = objective.value(theta);
  const Eigen::MatrixXd H = objective.hessian(theta);
  const Eigen::MatrixXd product = objective.hessian_times(theta, V);
  const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, {0, kNumSamples});
  std::atomic<int> num_wrong = 0;
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        if (objective.value(theta) != value) ++num_wrong;
        if (objective.hessian(theta) != H) ++num_wrong;
        if (objective.hessian_times(theta, V) != product) ++num_wrong;
        if (objective.per_sample_gradients(theta, {0, kNumSamples}) != gradients) ++num_wrong;
      }
    });
  }
  callers.clear();  // joins
  EXPECT_EQ(num_wrong, 0);
}

// The fractions that hessian() reports on four threads, never two at a time.
std::vector<double> reported_fractions(const GraphObjective& objective,
                                       const Eigen::VectorXd& theta) {
  std::atomic<int> inside = 0;
  std::vector<double> fractions;
  const SampleRange all{0, objective.num_samples()};
  const Eigen::MatrixXd h = objective.hessian(theta, all, [&](double fraction) {
    EXPECT_EQ(++inside, 1);
    fractions.push_back(fraction);
    --inside;
    return true;
  });
  EXPECT_EQ(h, objective.hessian(theta));
  EXPECT_TRUE(!fractions.empty() && fractions.front() > 0 && fractions.back() == 1);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  return fractions;
}

TEST_F(GraphObjectiveTest, ReportsProgressFromOneThreadAtATime) {
  const GraphObjective generic(model, samples, {.num_threads = 4, .use_structure = false});
  const std::vector<double> fractions = reported_fractions(generic, theta);
  ASSERT_EQ(fractions.size(), 24U);  // 6 blocks of columns, 4 of samples
  EXPECT_LT(fractions[22], 1);
  EXPECT_GT(reported_fractions(with_threads(4), theta).size(), 2U);
}

TEST_F(GraphObjectiveTest, StopsWhateverItComputesWhereAStopIsRequested) {
  std::stop_source source;
  const GraphObjective stoppable(
      model, samples, {.num_threads = 2, .stop = stop_requested_by(source.get_token())});
  EXPECT_EQ(stoppable.hessian_times(theta, Eigen::MatrixXd::Ones(n, 3)),
            objective.hessian_times(theta, Eigen::MatrixXd::Ones(n, 3)));
  source.request_stop();
  EXPECT_THROW(stoppable.value(theta), Interrupted);
  EXPECT_THROW(stoppable.gradient(theta), Interrupted);
  EXPECT_THROW(stoppable.hessian_times(theta, Eigen::MatrixXd::Ones(n, 3)), Interrupted);
  EXPECT_THROW(stoppable.hessian(theta), Interrupted);
  EXPECT_THROW(stoppable.per_sample_gradients(theta, stoppable.all_samples()), Interrupted);
}

TEST_F(GraphObjectiveTest, StopsWhenTheProgressCallbackAsks) {
  for (const int threads : {1, 4}) {
    const GraphObjective stopped = with_threads(threads);
    int calls = 0;
    const auto stop_at_second = [&](double /*fraction*/) { return ++calls < 2; };
    EXPECT_THROW(stopped.hessian(theta, {0, kNumSamples}, stop_at_second), Interrupted);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(stopped.hessian(theta), objective.hessian(theta));  // and works afterwards
  }
}

TEST_F(GraphObjectiveTest, RefusesWhatBreaksItsPreconditions) {
  const Eigen::VectorXd longer = Eigen::VectorXd::Zero(n + 1);
  const std::string size = ": theta must have 43 entries, got 44";
  expect_refusal([&] { objective.value(longer); }, "value" + size);
  expect_refusal([&] { objective.gradient(longer); }, "value_and_gradient" + size);
  expect_refusal([&] { objective.hessian(longer); }, "hessian" + size);
  expect_refusal([&] { objective.hessian_times(longer, V); }, "hessian_times" + size);
  expect_refusal(
      [&] {
        objective.per_sample_gradients(longer, {0, 1});
      },
      "per_sample_gradients" + size);
  expect_refusal([&] { objective.hessian_times(theta, longer); },
                 "hessian_times: directions must have 43 rows, got 44");
  for (const SampleRange range : {SampleRange{2, 2}, {3, 2}, {-1, 2}, {0, 201}}) {
    const std::string what = " is not a non-empty range of the 200 samples";
    expect_refusal([&] { objective.value(theta, range); }, what);
    expect_refusal([&] { objective.gradient(theta, range); }, what);
    expect_refusal([&] { objective.hessian(theta, range, {}); }, what);
    expect_refusal([&] { objective.hessian_times(theta, V, range); }, what);
    expect_refusal([&] { objective.per_sample_gradients(theta, range); }, what);
  }
  expect_refusal([&] { GraphObjective(model, SampleTable(0, model.record_size())); },
                 "GraphObjective: samples must be a non-empty table of 6 columns, got 0 x 6");
  expect_refusal([&] { GraphObjective(model, SampleTable::Zero(3, 5)); }, "got 3 x 5");
  expect_refusal([&] { GraphObjective(Model(), samples); }, "must have a graph and parameters");
  Model misshapen = model;
  misshapen.parameters.front().shape.push_back(2);
  expect_refusal([&] { GraphObjective(misshapen, samples); }, "GraphObjective: parameter block '");
  expect_refusal([&] { objective.value_and_gradient_of(theta, 3, {}); },
                 "value_and_gradient_of: source must not be empty");
  expect_refusal([&] { with_threads(-1); }, "num_threads must not be negative");
}

TEST_F(GraphObjectiveTest, TakesTheModelsStructureUnlessToldNotTo) {
  // Says that it was called.
  class Ones final : public StructuredHessian {
   public:
    bool mean(std::span<const double> /*theta*/,
              Records /*records*/,
              const Executor& /*executor*/,
              const ProgressCallback& progress,
              Eigen::Ref<Eigen::MatrixXd> h) const override {
      h.setConstant(1.0);
      detail::report(progress, 1);
      return true;
    }

    double workspace_bytes(int num_threads) const override { return 1000.0 * num_threads; }
  };

  Model structured = model;
  structured.structured_hessian = std::make_shared<Ones>();
  const GraphObjective with(structured, samples, {.num_threads = 2});
  EXPECT_EQ(with.hessian(theta), Eigen::MatrixXd::Ones(n, n));
  EXPECT_EQ(with.hessian(theta, {3, 20}, {}), Eigen::MatrixXd::Ones(n, n));
  EXPECT_EQ(with.gradient(theta), objective.gradient(theta));
  const double data_bytes = static_cast<double>(samples.size()) * sizeof(double);
  EXPECT_EQ(with.workspace_bytes(), data_bytes + 2000.0);
  const GraphObjective without(structured, samples, {.num_threads = 2, .use_structure = false});
  const GraphObjective generic(model, samples, {.num_threads = 1, .use_structure = false});
  EXPECT_EQ(without.hessian(theta), generic.hessian(theta));
}

TEST(GraphObjective, KeepsTheOrderOfItsParameterBlocks) {
  const GraphObjective objective{attention({.heads = 2, .embedding = 3}), SampleTable::Zero(1, 4)};
  Eigen::Index next = 0;
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    EXPECT_EQ(block.offset, next);
    next += block.size;
  }
  EXPECT_EQ(next, objective.num_parameters());
}

TEST(GraphObjective, HandlesOneParameterAndOneSample) {
  ModelBuilder b("cubic");
  const Var x = b.parameter("x", {1});
  const GraphObjective objective{b.finish(hadamard(x, square(x)) + 0.0 * b.array("unused", {})),
                                 SampleTable::Zero(1, 1)};
  const Eigen::VectorXd theta = Eigen::VectorXd::Constant(1, 2.0);
  EXPECT_EQ(objective.value(theta), 8);
  EXPECT_EQ(objective.gradient(theta)(0), 12);
  EXPECT_EQ(objective.hessian(theta)(0, 0), 12);
}

}  // namespace
}  // namespace hesscope
