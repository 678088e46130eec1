// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of multilayer perceptrons by the structure of their graph, against the generic engine
// and, where doubles could lose digits, against 50 of them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/structured/graph_hessian.h>

#include "support/graph_oracle.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Relative to the norm of H.
constexpr double kMlpTolerance = 1e-13;

struct Case {
  explicit Case(const MlpOptions& mlp_options, Index count = 21)
      : options(mlp_options), samples(test::Numbers(11).table(count, model.record_size())) {
    if (options.loss == MlpLoss::kCrossEntropy) {
      const Index out = options.widths.back();
      samples.rightCols(out).setZero();
      for (Index i = 0; i < count; ++i) samples(i, options.widths.front() + i * i % out) = 1;
    }
  }

  // The mean, as GraphObjective gives it.
  MatrixXd structured(InstructionSet set = best_instruction_set(), int num_threads = 2) const {
    Model with_set = model;
    with_set.structured_hessian = graph_hessian(model.graph, set);
    return GraphObjective(with_set, samples, {.num_threads = num_threads}).hessian(theta);
  }

  MatrixXd generic() const {
    return GraphObjective(model, samples, {.num_threads = 2, .use_structure = false})
        .hessian(theta);
  }

  MlpOptions options;
  Model model = mlp(options);
  SampleTable samples;
  VectorXd theta = test::Numbers(12).vector(model.num_parameters());
};

void expect_near(const MatrixXd& actual,
                 const MatrixXd& expected,
                 double tolerance = kMlpTolerance) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  EXPECT_EQ(actual, actual.transpose().eval());
  const double error = (actual - expected).norm();
  EXPECT_TRUE(error <= tolerance * expected.norm()) << error << ", norm " << expected.norm();
}

class GraphHessianOfMlpOfShape : public testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(GraphHessianOfMlpOfShape, EqualsTheGenericEngine) {
  for (const Activation activation : {Activation::kTanh,
                                      Activation::kGelu,
                                      Activation::kRelu,
                                      Activation::kSoftplus,
                                      Activation::kIdentity}) {
    for (const MlpLoss loss : {MlpLoss::kCrossEntropy, MlpLoss::kMeanSquaredError}) {
      const Case c({GetParam(), activation, loss});
      const MatrixXd expected = c.generic();
      for (const InstructionSet set : supported_instruction_sets()) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(activation) << ", "
                                        << static_cast<int>(loss) << ", " << name_of(set));
        expect_near(c.structured(set), expected);
      }
    }
  }
}

// No hidden layer; one unit; one unit between wider layers; depth six; more rows and columns than a
// tile has; more columns than two tiles have; products of pairs of inputs in several tasks.
INSTANTIATE_TEST_SUITE_P(Shapes,
                         GraphHessianOfMlpOfShape,
                         testing::Values(std::vector<std::int64_t>{1, 1},
                                         std::vector<std::int64_t>{3, 4},
                                         std::vector<std::int64_t>{1, 1, 1},
                                         std::vector<std::int64_t>{2, 5, 3},
                                         std::vector<std::int64_t>{4, 1, 3},
                                         std::vector<std::int64_t>{3, 7, 5, 2},
                                         std::vector<std::int64_t>{2, 3, 2, 4, 1, 3, 2},
                                         std::vector<std::int64_t>{2, 16, 11, 9, 3},
                                         std::vector<std::int64_t>{1, 100, 1},
                                         std::vector<std::int64_t>{90, 2, 2},
                                         std::vector<std::int64_t>{3, 22, 21, 2}),
                         [](const auto& instance) {
                           std::string name = "Widths";
                           for (const std::int64_t width : instance.param)
                             name += "_" + std::to_string(width);
                           return name;
                         });

// Two chunks, and more tangents than a stage keeps: a use's units are divided.
TEST(GraphHessianOfMlp, IsTheMeanWhereStagesDivideTheUnits) {
  const Case c({{2, 28, 28, 3}, Activation::kTanh, MlpLoss::kCrossEntropy}, 1100);
  const MatrixXd expected = c.generic();
  for (const InstructionSet set : supported_instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    expect_near(c.structured(set), expected);
  }
}

TEST(GraphHessianOfMlp, IsTheMeanOverAnyNumberOfSamples) {
  // Around a pack, and around the 512 of a chunk.
  for (const Index count : {1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1025}) {
    SCOPED_TRACE(count);
    const Case c({{2, 5, 4, 3}, Activation::kTanh, MlpLoss::kCrossEntropy}, count);
    const MatrixXd expected = c.generic();
    for (const InstructionSet set : supported_instruction_sets()) {
      expect_near(c.structured(set), expected);
    }
  }
}

TEST(GraphHessianOfMlp, SeesOnlyTheSamplesOfItsRange) {
  const Case c({{3, 6, 2}, Activation::kGelu, MlpLoss::kCrossEntropy}, 700);
  for (const SampleRange range : {SampleRange{0, 700}, {10, 91}, {3, 4}, {8, 600}, {699, 700}}) {
    SCOPED_TRACE(testing::Message() << range.begin << " ... " << range.end);
    SampleTable surrounded = c.samples;
    surrounded.topRows(range.begin).setConstant(kNaN);
    surrounded.bottomRows(700 - range.end).setConstant(kInfinity);
    const MatrixXd H = GraphObjective(c.model, surrounded).hessian(c.theta, range, {});
    const SampleTable alone = c.samples.middleRows(range.begin, range.size());
    EXPECT_EQ(H, GraphObjective(c.model, alone).hessian(c.theta));
    expect_near(
        H,
        GraphObjective(c.model, c.samples, {.use_structure = false}).hessian(c.theta, range, {}));
  }
}

TEST(GraphHessianOfMlp, IsBitIdenticalForAnyNumberOfThreads) {
  const Case c({{2, 20, 17, 3}, Activation::kTanh, MlpLoss::kCrossEntropy}, 1100);
  for (const InstructionSet set : supported_instruction_sets()) {
    const MatrixXd one = c.structured(set, 1);
    for (const int num_threads : {2, 3, 4}) {
      for (int repetition = 0; repetition < 3; ++repetition) {
        EXPECT_EQ(c.structured(set, num_threads), one) << num_threads << " " << name_of(set);
      }
    }
  }
}

TEST(GraphHessianOfMlp, HoldsAtZeroWeightsAndAtKinks) {
  for (const Activation activation :
       {Activation::kTanh, Activation::kGelu, Activation::kRelu, Activation::kSoftplus}) {
    SCOPED_TRACE(static_cast<int>(activation));
    Case c({{2, 4, 3, 2}, activation, MlpLoss::kCrossEntropy});
    c.theta.setZero();
    expect_near(c.structured(), c.generic());
    // Inputs of halves and weights of quarters make some pre-activations exactly 0.
    c.theta = (4 * test::Numbers(31).vector(c.theta.size())).array().round() / 4;
    c.samples.leftCols(2) = (2 * test::Numbers(32).table(21, 2)).array().round() / 2;
    expect_near(c.structured(), c.generic());
  }
}

TEST(GraphHessianOfMlp, KeepsItsRelativeAccuracyWhenTheClassifierIsSure) {
  for (const Activation activation : {Activation::kTanh, Activation::kIdentity}) {
    Case c({{2, 4, 3}, activation, MlpLoss::kCrossEntropy}, 9);
    c.samples.rightCols(3).setZero();
    c.samples.col(3).setOnes();  // class 1, for which the last bias speaks
    for (const double bias : {5.0, 25.0, 100.0}) {
      c.theta(c.theta.size() - 2) = bias;
      const MultiprecisionDerivatives exact = multiprecision_derivatives(
          *c.model.graph, test::span_of(c.theta), test::records_of(c.samples));
      SCOPED_TRACE(testing::Message() << "loss " << exact.value);
      ASSERT_LT(exact.value, std::exp(4 - bias));
      for (const InstructionSet set : supported_instruction_sets()) {
        expect_near(c.structured(set), exact.hessian);
      }
    }
  }
}

// The other way round: sure, and wrong.
TEST(GraphHessianOfMlp, KeepsItsRelativeAccuracyWhenTheClassifierIsSureAndWrong) {
  Case c({{2, 4, 3}, Activation::kTanh, MlpLoss::kCrossEntropy}, 9);
  c.samples.rightCols(3).setZero();
  c.samples.col(2).setOnes();
  c.theta(c.theta.size() - 2) = 40;
  const MultiprecisionDerivatives exact = multiprecision_derivatives(
      *c.model.graph, test::span_of(c.theta), test::records_of(c.samples));
  ASSERT_GT(exact.value, 30);
  expect_near(c.structured(), exact.hessian);
}

TEST(GraphHessianOfMlp, IsExactOnAllActivations) {
  for (const Activation activation :
       {Activation::kTanh, Activation::kGelu, Activation::kSoftplus, Activation::kIdentity}) {
    const Case c({{2, 3, 3, 2}, activation, MlpLoss::kMeanSquaredError}, 3);
    const MultiprecisionDerivatives exact = multiprecision_derivatives(
        *c.model.graph, test::span_of(c.theta), test::records_of(c.samples));
    expect_near(c.structured(), exact.hessian);
  }
}

void expect_not_finite(const Case& c) {
  for (const InstructionSet set : supported_instruction_sets()) {
    EXPECT_FALSE(c.structured(set).allFinite()) << name_of(set);
  }
}

TEST(GraphHessianOfMlp, LetsNoNonFiniteNumberDisappear) {
  for (const MlpLoss loss : {MlpLoss::kCrossEntropy, MlpLoss::kMeanSquaredError}) {
    for (const Activation activation : {Activation::kTanh, Activation::kRelu}) {
      const Case good({{3, 4, 3, 2}, activation, loss});
      for (const double bad : {kNaN, kInfinity}) {
        for (const Index sample : {0, 15, 20}) {
          SCOPED_TRACE(testing::Message()
                       << "sample " << sample << ", loss " << static_cast<int>(loss)
                       << ", activation " << static_cast<int>(activation) << ", " << bad);
          Case c = good;
          c.samples(sample, 1) = bad;
          expect_not_finite(c);
          c = good;
          c.samples(sample, 4) = bad;  // a target
          expect_not_finite(c);
        }
        for (const Index weight : {0, 13, 20, 29, 33, 37}) {
          SCOPED_TRACE(testing::Message()
                       << "weight " << weight << ", loss " << static_cast<int>(loss)
                       << ", activation " << static_cast<int>(activation) << ", " << bad);
          Case c = good;
          c.theta(weight) = bad;
          expect_not_finite(c);
        }
      }
    }
  }
}

// Where a unit is saturated, products of two inputs overflow if they meet each other before its
// curvature 0.
TEST(GraphHessianOfMlp, IsThereWhereInputsAreNearTheEndOfTheRange) {
  for (const MlpLoss loss : {MlpLoss::kCrossEntropy, MlpLoss::kMeanSquaredError}) {
    for (const double scale : {1e160, 1e250, 1e300}) {
      Case point({.widths = {3, 4, 2}, .activation = Activation::kTanh, .loss = loss});
      point.samples.leftCols(3) *= scale;
      const GraphObjective fast(point.model, point.samples, {.num_threads = 1});
      const GraphObjective generic(
          point.model, point.samples, {.num_threads = 1, .use_structure = false});
      const MatrixXd h = fast.hessian(point.theta);
      EXPECT_TRUE(h.allFinite());
      expect_near(h, generic.hessian(point.theta));
      EXPECT_TRUE(fast.gauss_newton(point.theta).allFinite());
      // The saturated layer: 12 weights and 4 biases; those of the last see inputs of +-1.
      EXPECT_TRUE((h.topRows(16).array() == 0).all());
      EXPECT_GT(h(20, 20), 1e-3);
    }
  }
}

TEST(GraphHessianOfMlp, ReportsTheShareOfItsWorkAndStopsWhenAsked) {
  const Case c({{2, 5, 2}, Activation::kTanh, MlpLoss::kCrossEntropy}, 1300);
  const auto structured = graph_hessian(c.model.graph);
  const Executor executor(3);
  MatrixXd h(c.theta.size(), c.theta.size());
  std::vector<double> fractions;
  structured->mean(
      test::span_of(c.theta),
      test::records_of(c.samples),
      executor,
      [&](double fraction) {
        fractions.push_back(fraction);
        return true;
      },
      h);
  EXPECT_GT(fractions.size(), 3);
  EXPECT_EQ(fractions.back(), 1.0);
  EXPECT_TRUE(std::ranges::is_sorted(fractions));

  int calls = 0;
  const GraphObjective objective(c.model, c.samples, {.num_threads = 3});
  const auto stop_at_second = [&](double /*fraction*/) { return ++calls < 2; };
  EXPECT_THROW(objective.hessian(c.theta, {0, 1300}, stop_at_second), Interrupted);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(objective.hessian(c.theta), h);
}

TEST(GraphHessianOfMlp, NeedsAScratchThatItsLayersBound) {
  // A chunk of 1,024 samples, or of as many as fit into 128 MiB; for each thread a task's panels
  // and the plain tape, which has a register for each parameter.
  const double mib = 1 << 20;
  const auto small = graph_hessian(mlp({.widths = {2, 8, 3}}).graph);
  const auto large = graph_hessian(mlp({.widths = {100, 100, 100, 100, 100, 100, 10}}).graph);
  EXPECT_LT(small->workspace_bytes(1), 5 * mib);
  EXPECT_LT(large->workspace_bytes(1), 130 * mib);
  EXPECT_LT(large->workspace_bytes(8) - large->workspace_bytes(1), 7 * 16 * mib);
}

}  // namespace
}  // namespace hesscope
