// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/structured/linear_attention_hessian.h>

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

// Relative to the norm of H. The generic engine and the structured one round differently.
constexpr double kTolerance = 1e-12;

Model model_with(const LinearAttentionOptions& options, InstructionSet set) {
  Model model = linear_attention(options);
  model.structured_hessian = linear_attention_hessian(structure_of(options, model), set);
  return model;
}

struct Problem : LinearAttentionCase {
  using LinearAttentionCase::LinearAttentionCase;

  Eigen::MatrixXd generic(SampleRange range) const {
    const GraphObjective objective(model, samples, {.num_threads = 2, .use_structure = false});
    return objective.hessian(theta, range, {});
  }

  Eigen::MatrixXd structured(const Model& with, SampleRange range, int num_threads = 2) const {
    EXPECT_NE(with.structured_hessian, nullptr);
    const GraphObjective objective(with, samples, {.num_threads = num_threads});
    return objective.hessian(theta, range, {});
  }
};

void expect_near(const Eigen::MatrixXd& actual,
                 const Eigen::MatrixXd& expected,
                 const std::string& what) {
  const double error = (actual - expected).norm();
  EXPECT_TRUE(error <= kTolerance * expected.norm())
      << what << ": " << error << " of " << expected.norm();
  EXPECT_TRUE(actual == actual.transpose()) << what;
}

class LinearAttentionHessianOf : public testing::TestWithParam<Parametrization> {};

INSTANTIATE_TEST_SUITE_P(Parametrization,
                         LinearAttentionHessianOf,
                         testing::Values(Parametrization::kSparse,
                                         Parametrization::kFull,
                                         Parametrization::kSplitQk));

TEST_P(LinearAttentionHessianOf, EveryShapeIsTheGenericEngines) {
  for (const Shape& shape : kShapes) {
    const Problem problem(options_of(shape, GetParam()), 11);
    const Eigen::MatrixXd expected = problem.generic(problem.all());
    for (const InstructionSet set : supported_instruction_sets()) {
      const Model model = model_with(options_of(shape, GetParam()), set);
      expect_near(problem.structured(model, problem.all()),
                  expected,
                  std::to_string(shape.layers) + " layers, d = " + std::to_string(shape.dimension) +
                      ", " + std::string(name_of(set)));
    }
  }
}

TEST_P(LinearAttentionHessianOf, IsTheFiftyDigitHessian) {
  const Problem problem(options_of({3, 5, 20}, GetParam()), 3, 0.1);
  const auto exact = multiprecision_derivatives(
      *problem.model.graph, test::span_of(problem.theta), test::records_of(problem.samples));
  for (const InstructionSet set : supported_instruction_sets()) {
    const Model model = model_with(options_of({3, 5, 20}, GetParam()), set);
    expect_near(problem.structured(model, problem.all()), exact.hessian, std::string(name_of(set)));
  }
}

// At the ends of registers, packs and groups of packs.
TEST_P(LinearAttentionHessianOf, AnyNumberOfPromptsAnywhere) {
  const LinearAttentionOptions options = options_of({3, 2, 4}, GetParam());
  const Problem problem(options, 300);
  for (const InstructionSet set : supported_instruction_sets()) {
    const Model model = model_with(options, set);
    for (const Eigen::Index count : {1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 257}) {
      const SampleRange range{300 - count, 300};
      expect_near(problem.structured(model, range),
                  problem.generic(range),
                  std::to_string(count) + " prompts, " + std::string(name_of(set)));
    }
  }
}

// n = 1058 is more than a task's own H may have: tasks then share one group.
TEST_P(LinearAttentionHessianOf, LargeModelsToo) {
  const LinearAttentionOptions options = options_of({2, 15, 16}, GetParam());
  const Problem problem(options, 19, 0.1);
  expect_near(problem.structured(problem.model, problem.all()),
              problem.generic(problem.all()),
              "2 layers, d = 15");
}

TEST_P(LinearAttentionHessianOf, ThreadsChangeNoBit) {
  const std::pair<Shape, std::vector<int>> cases[] = {{{3, 3, 5}, {2, 3, 4}}, {{2, 15, 16}, {3}}};
  for (const auto& [shape, numbers_of_threads] : cases) {
    const Problem problem(options_of(shape, GetParam()), 300, 0.1);
    const Eigen::MatrixXd one = problem.structured(problem.model, problem.all(), 1);
    for (const int threads : numbers_of_threads) {
      EXPECT_TRUE(one == problem.structured(problem.model, problem.all(), threads)) << threads;
    }
  }
}

TEST_P(LinearAttentionHessianOf, ZeroWeights) {
  Problem problem(options_of({3, 3, 5}, GetParam()), 9);
  problem.theta.setZero();
  expect_near(
      problem.structured(problem.model, problem.all()), problem.generic(problem.all()), "zero");
}

TEST(LinearAttentionHessian, NonFiniteDataReachTheResult) {
  Problem problem(options_of({2, 2, 3}, Parametrization::kFull), 9);
  problem.samples(8, 0) = kNaN;
  EXPECT_TRUE(problem.structured(problem.model, problem.all()).array().isNaN().any());
  EXPECT_TRUE(problem.structured(problem.model, {0, 8}).allFinite());
}

TEST(LinearAttentionHessian, ProgressEndsAtOneAndCanInterrupt) {
  const Problem problem(options_of({3, 3, 5}, Parametrization::kFull), 500);
  const GraphObjective objective(problem.model, problem.samples, {.num_threads = 2});
  double last = 0;
  objective.hessian(problem.theta, problem.all(), [&](double fraction) {
    EXPECT_GT(fraction, last);
    last = fraction;
    return true;
  });
  EXPECT_EQ(last, 1.0);
  EXPECT_THROW(objective.hessian(problem.theta, problem.all(), [](double) { return false; }),
               Interrupted);
}

TEST(LinearAttentionHessian, IsLeftToTheGenericEngineWhereItWouldNeedTooMuchMemory) {
  EXPECT_NE(linear_attention_hessian({.layers = 8, .dimension = 20, .context = 60}), nullptr);
  EXPECT_EQ(linear_attention_hessian({.layers = 2, .dimension = 100, .context = 10}), nullptr);
}

TEST(LinearAttentionHessian, RejectsSizesBelowOne) {
  EXPECT_THROW(linear_attention_hessian({.layers = 0}), PreconditionError);
  EXPECT_THROW(linear_attention_hessian({.dimension = 0}), PreconditionError);
  EXPECT_THROW(linear_attention_hessian({.context = 0}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
