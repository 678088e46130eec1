// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/structured/linear_attention_loss.h>

#include "linear_attention_case.h"
#include "support/graph_oracle.h"

namespace hesscope {
namespace {

using Parametrization = LinearAttentionParametrization;
using test::kShapes;
using test::LinearAttentionCase;
using test::options_of;
using test::Shape;
using test::structure_of;
using ValueAndGradient = Objective::ValueAndGradient;

// Relative, of the value and of the gradient's norm.
constexpr double kLossTolerance = 1e-13;

Model loss_model_with(const LinearAttentionOptions& options, InstructionSet set) {
  Model model = linear_attention(options);
  model.structured_loss = linear_attention_loss(structure_of(options, model), set);
  return model;
}

struct LossProblem : LinearAttentionCase {
  using LinearAttentionCase::LinearAttentionCase;

  ValueAndGradient generic(SampleRange range) const {
    const GraphObjective objective(model, samples, {.num_threads = 2, .use_structure = false});
    return objective.value_and_gradient(theta, range);
  }

  ValueAndGradient structured(const Model& with, SampleRange range, int num_threads = 2) const {
    EXPECT_NE(with.structured_loss, nullptr);
    const GraphObjective objective(with, samples, {.num_threads = num_threads});
    const ValueAndGradient found = objective.value_and_gradient(theta, range);
    EXPECT_TRUE(objective.value(theta, range) == found.value);
    return found;
  }
};

void expect_near(const ValueAndGradient& actual,
                 const ValueAndGradient& expected,
                 const std::string& what) {
  EXPECT_TRUE(std::abs(actual.value - expected.value) <= kLossTolerance * expected.value)
      << what << ": " << actual.value << ", " << expected.value;
  const double error = (actual.gradient - expected.gradient).norm();
  EXPECT_TRUE(error <= kLossTolerance * expected.gradient.norm())
      << what << ": " << error << " of " << expected.gradient.norm();
}

class LinearAttentionLossOf : public testing::TestWithParam<Parametrization> {};

INSTANTIATE_TEST_SUITE_P(Parametrization,
                         LinearAttentionLossOf,
                         testing::Values(Parametrization::kSparse,
                                         Parametrization::kFull,
                                         Parametrization::kSplitQk));

TEST_P(LinearAttentionLossOf, EveryShapeIsTheGenericEngines) {
  for (const Shape& shape : kShapes) {
    const LossProblem problem(options_of(shape, GetParam()), 11);
    const ValueAndGradient expected = problem.generic(problem.all());
    for (const InstructionSet set : supported_instruction_sets()) {
      const Model model = loss_model_with(options_of(shape, GetParam()), set);
      expect_near(problem.structured(model, problem.all()),
                  expected,
                  std::to_string(shape.layers) + " layers, d = " + std::to_string(shape.dimension) +
                      ", " + std::string(name_of(set)));
    }
  }
}

TEST_P(LinearAttentionLossOf, IsThatOfFiftyDigits) {
  for (const Shape& shape : {Shape{1, 3, 4}, Shape{2, 5, 8}, Shape{4, 3, 6}}) {
    const LossProblem problem(options_of(shape, GetParam()), 3, 0.1);
    const auto exact = multiprecision_derivatives(
        *problem.model.graph, test::span_of(problem.theta), test::records_of(problem.samples));
    for (const InstructionSet set : supported_instruction_sets()) {
      const Model model = loss_model_with(options_of(shape, GetParam()), set);
      expect_near(problem.structured(model, problem.all()),
                  {exact.value, exact.gradient},
                  std::to_string(shape.layers) + " layers, " + std::string(name_of(set)));
    }
  }
}

// At the ends of packs and blocks, where condensed samples are kept and where they are made again.
TEST_P(LinearAttentionLossOf, AnyNumberOfPromptsAnywhere) {
  const LinearAttentionOptions options = options_of({3, 2, 4}, GetParam());
  const LossProblem problem(options, 300);
  for (const InstructionSet set : supported_instruction_sets()) {
    const Model model = loss_model_with(options, set);
    for (const SampleRange range : {SampleRange{0, 300},
                                    SampleRange{0, 128},
                                    SampleRange{0, 129},
                                    SampleRange{8, 300},
                                    SampleRange{1, 300},
                                    SampleRange{7, 8},
                                    SampleRange{299, 300},
                                    SampleRange{40, 296},
                                    SampleRange{3, 260}}) {
      expect_near(problem.structured(model, range),
                  problem.generic(range),
                  std::to_string(range.begin) + " to " + std::to_string(range.end) + ", " +
                      std::string(name_of(set)));
    }
  }
}

// Where the samples stand in a table, and whether they stand in one, changes no bit.
TEST_P(LinearAttentionLossOf, IsThatOfTheSamplesAlone) {
  const LossProblem problem(options_of({3, 5, 6}, GetParam()), 300);
  const GraphObjective all(problem.model, problem.samples);
  const SampleRange range{21, 278};
  const GraphObjective some(problem.model, problem.samples.middleRows(range.begin, range.size()));
  const ValueAndGradient expected = all.value_and_gradient(problem.theta, range);
  const ValueAndGradient found = some.value_and_gradient(problem.theta, {0, range.size()});
  EXPECT_EQ(found.value, expected.value);
  EXPECT_TRUE(found.gradient == expected.gradient);
  const Eigen::Index stride = problem.samples.cols();
  const ValueAndGradient made = some.value_and_gradient_of(
      problem.theta, range.size(), [&](SampleRange block, std::span<double> records) {
        std::copy_n(problem.samples.data() + (range.begin + block.begin) * stride,
                    records.size(),
                    records.begin());
      });
  EXPECT_EQ(made.value, expected.value);
  EXPECT_TRUE(made.gradient == expected.gradient);
}

TEST_P(LinearAttentionLossOf, ThreadsChangeNoBit) {
  const LossProblem problem(options_of({3, 5, 5}, GetParam()), 1000, 0.1);
  const ValueAndGradient one = problem.structured(problem.model, problem.all(), 1);
  for (const int threads : {2, 3, 4}) {
    const ValueAndGradient many = problem.structured(problem.model, problem.all(), threads);
    EXPECT_EQ(many.value, one.value) << threads;
    EXPECT_TRUE(many.gradient == one.gradient) << threads;
  }
}

TEST(LinearAttentionLoss, NonFiniteDataReachTheResultOfTheirSampleAlone) {
  LossProblem problem(options_of({3, 2, 3}, Parametrization::kFull), 9);
  problem.samples(8, 0) = kNaN;
  const GraphObjective objective(problem.model, problem.samples);
  EXPECT_TRUE(std::isnan(objective.value(problem.theta)));
  EXPECT_TRUE(
      objective.value_and_gradient(problem.theta, problem.all()).gradient.array().isNaN().any());
  for (const Eigen::Index end : {7, 8}) {
    const ValueAndGradient finite = objective.value_and_gradient(problem.theta, {0, end});
    EXPECT_TRUE(std::isfinite(finite.value)) << end;
    EXPECT_TRUE(finite.gradient.allFinite()) << end;
  }
}

TEST(LinearAttentionLoss, RejectsSizesBelowOne) {
  EXPECT_THROW(linear_attention_loss({.layers = 0}), PreconditionError);
  EXPECT_THROW(linear_attention_loss({.dimension = 0}), PreconditionError);
  EXPECT_THROW(linear_attention_loss({.context = 0}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
