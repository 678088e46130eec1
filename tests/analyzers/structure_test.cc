// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/numbers.h"

namespace hesscope {
namespace {

// f = (a b - 2)^2 / 2 at its minimum (2, 1): H = [1, 2; 2, 4] has the eigenvalues 0 and 5, and the
// zero is that of the rescaling (c a, b / c), whose generator u = (2, -1) is a null vector.
TEST(StructureAnalyzer, ExplainsTheZeroOfARescaling) {
  const Analysis analysis =
      analyze(test::product_of_two({2}), {{"here", Eigen::Vector2d(2, 1)}}, {"structure"});
  const auto number = [&](const char* name) { return analysis[0].number("structure", name); };
  EXPECT_EQ(number("num_generators"), 1);
  EXPECT_EQ(number("explained"), 1);
  EXPECT_EQ(number("num_explained"), 1);
  EXPECT_EQ(number("num_unexplained"), 0);
  EXPECT_EQ(number("num_unconfirmed"), 0);
  EXPECT_EQ(number("num_dead"), 0);
  EXPECT_EQ(number("flatness_bound"), 0);  // the gradient is zero
  EXPECT_NEAR(number("median_without_explained"), 5, 1e-14);
  EXPECT_NEAR(number("robust_eigenvalue_without_explained"), 1, 1e-14);
  EXPECT_NEAR(number("robust_absolute_without_explained"), 1, 1e-14);
}

// (a b)^2 / 2 at (1, 1): the gradient is (1, 1), H = [1, 2; 2, 1] has no zero, and the generator's
// B^T g = (1, -1) is as long as u = (1, -1).
TEST(StructureAnalyzer, ExplainsNothingWhereTheGradientIsLarge) {
  const Analysis analysis =
      analyze(test::product_of_two({0}), {{"here", Eigen::Vector2d(1, 1)}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "explained"), 0);
  EXPECT_NEAR(analysis[0].number("structure", "flatness_bound"), 1, 1e-15);
  EXPECT_NEAR(analysis[0].number("structure", "median_without_explained"), -1, 1e-14);
  EXPECT_NEAR(analysis[0].number("structure", "robust_eigenvalue_without_explained"), -3, 1e-13);
  EXPECT_NEAR(analysis[0].number("structure", "robust_absolute_without_explained"), 3, 1e-13);
}

TEST(StructureAnalyzer, CountsDeadParameters) {
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector3d(0, 2, 0).asDiagonal())});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector3d::Ones()}}, {"structure"});
  EXPECT_EQ(analysis[0].values("structure", "dead"), Eigen::Vector3d(1, 0, 1));
  EXPECT_EQ(analysis[0].number("structure", "num_dead"), 2);
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
  EXPECT_EQ(analysis[0].number("structure", "num_unexplained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "num_generators"), 0);  // of no family
  EXPECT_EQ(analysis[0].number("structure", "median_without_explained"), 2);
}

double structure(const Objective& objective, const Eigen::VectorXd& theta, const char* name) {
  return analyze(objective, {{"here", theta}}, {"structure"})[0].number("structure", name);
}

// x y z + u^2 / 2 at 0: the rows of x, y and z are zero there alone, in y z the loss falls as soon
// as x is not 0, and w has no part in it.
TEST(StructureAnalyzer, DoesNotExplainRowsThatAreZeroHereAlone) {
  const auto objective = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(1) * x(2) + 0.5 * x(3) * x(3));
      },
      5,
      1);
  for (const double w : {0.0, 3.0}) {
    const Eigen::VectorXd theta = w * Eigen::VectorXd::Unit(5, 4);
    const Analysis analysis = analyze(objective, {{"here", theta}}, {"spectrum", "structure"});
    EXPECT_EQ(analysis[0].number("spectrum", "num_dead"), 4);
    EXPECT_EQ(analysis[0].values("structure", "dead"), Eigen::VectorXd::Unit(5, 4));
    EXPECT_EQ(analysis[0].number("structure", "num_dead"), 1);
    EXPECT_EQ(analysis[0].number("structure", "num_explained"), 1);
    EXPECT_EQ(analysis[0].number("structure", "num_unexplained"), 3);
  }
}

TEST(StructureAnalyzer, DoesNotExplainAQuartic) {
  const auto objective = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(0) * x(0) * x(0) / 24.0 + 0.5 * x(1) * x(1));
      },
      2,
      1);
  const Eigen::Vector2d origin(0, 0);
  EXPECT_EQ(structure(objective, origin, "num_explained"), 0);
  EXPECT_EQ(structure(objective, origin, "num_unexplained"), 1);
}

// Two weights, the bias and the weight behind it of a relu unit that no sample reaches are dead,
// also where it falls short by a hundredth of its weights only.
TEST(StructureAnalyzer, ExplainsADeadReluUnit) {
  const Model model = mlp(
      {.widths = {2, 3, 1}, .activation = Activation::kRelu, .loss = MlpLoss::kMeanSquaredError});
  const SampleTable samples = test::Numbers(1).table(20, model.record_size());
  const GraphObjective objective(model, samples);
  Eigen::VectorXd theta = test::Numbers(2).vector(model.num_parameters());
  theta.segment(7, 2).setConstant(5);  // the others' biases, after three rows of weights
  const auto with_dead_unit = [&](double margin) {
    const Eigen::VectorXd inputs = samples.leftCols(2) * theta.head(2);
    theta[6] = -inputs.maxCoeff<Eigen::PropagateNaN>() - margin;
    return theta;
  };
  for (const double margin : {10.0, 0.02}) {
    EXPECT_EQ(structure(objective, with_dead_unit(margin), "num_dead"), 4);
  }
}

// The third of three rows of a table is that of a word that no sample has.
TEST(StructureAnalyzer, ExplainsAnUnusedRow) {
  ModelBuilder builder("table");
  const Var table = builder.parameter("table", {3, 2});
  const Var out = builder.parameter("out", {2});
  const Var word = builder.array("word", {1, 3});
  const Var target = builder.array("target", {});
  const Model model = builder.finish(0.5 * square(matmul(tanh(matmul(word, table)), out) - target));
  SampleTable samples(4, 4);
  samples << 1, 0, 0, 0.3, 0, 1, 0, -0.2, 1, 0, 0, 0.1, 0, 1, 0, 0.5;
  const GraphObjective objective(model, samples);
  Eigen::VectorXd theta = test::Numbers(3).vector(8);
  for (const bool is_zero : {false, true}) {
    if (is_zero) theta.segment(4, 2).setZero();
    EXPECT_EQ(structure(objective, theta, "num_dead"), 2);
  }
}

// Two relu units with one bias that decides at nearly every random point whether both fire: a
// search takes a + b for all that matters. Here the bias is 0, and a and b have different signs.
TEST(StructureAnalyzer, DoesNotTakeWhatHoldsElsewhereForAPrediction) {
  ModelBuilder builder("two relu units");
  const Var a = builder.parameter("a", {1});
  const Var b = builder.parameter("b", {1});
  const Var bias = 1000.0 * builder.parameter("bias", {1});
  const Var x = builder.array("inputs", {1});
  Model model =
      builder.finish(square(sum(relu(hadamard(a, x) + bias) + relu(hadamard(b, x) + bias)) -
                            builder.array("target", {})));
  model.searches_invariances = true;
  const GraphObjective objective(model, test::Numbers(1).table(8, 2));
  const auto found = objective.invariances();
  ASSERT_EQ(std::ranges::count(found, "sum of a and b", &Invariance::name), 1);
  const auto at = [&](const Eigen::Vector3d& theta) {
    return analyze(objective, {{"here", theta}}, {"structure"});
  };
  const Analysis far = at({1, -1, 1});
  EXPECT_EQ(far[0].number("structure", "num_explained"), 1);
  const Analysis here = at({1, -1, 0});
  EXPECT_EQ(here[0].status("structure", "num_explained"), Status::kOk);
  EXPECT_EQ(here[0].number("structure", "num_explained"), 0);
  EXPECT_EQ(here[0].number("structure", "num_unconfirmed"), 0);
  EXPECT_TRUE(here.warnings().empty());
}

// What the model itself states wrongly: (x - y)^2 / 2 + y^2 is not flat along (1, 1).
TEST(StructureAnalyzer, SaysWhichInvarianceTheHessianRefutes) {
  ModelBuilder builder("wrong");
  const Var x = builder.parameter("x", {1});
  const Var y = builder.parameter("y", {1});
  Model model = builder.finish(sum(0.5 * square(x - y) + square(y)));
  model.invariances = {
      {"shift of both", 1, [](Eigen::Index /*k*/) {
         return AffineGenerator{.linear = {}, .constant = {{0, 1.0}, {1, 1.0 + 1e-9}}};
       }}};
  const GraphObjective objective(model, SampleTable(1, 0));
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d(1, 2)}}, {"structure"});
  EXPECT_EQ(analysis[0].status("structure", "num_explained"), Status::kFailed);
  EXPECT_EQ(analysis[0].number("structure", "num_unconfirmed"), 1);
  EXPECT_EQ(analysis[0].number("structure", "unconfirmed"), 1);
  EXPECT_NEAR(analysis[0].number("structure", "refutation"), std::sqrt(2), 1e-8);
  EXPECT_EQ(analysis[0].number("structure", "refuted_parameter"), 1);
  EXPECT_LT(analysis[0].number("structure", "confirmation_bound"), 1e-13);
  ASSERT_EQ(analysis.warnings().size(), 1U);
  EXPECT_THAT(std::string(analysis.warnings()[0]),
              testing::HasSubstr("failed: the Hessian refutes 1 null vector v that 'shift of both' "
                                 "predicts: |H v| / |v| is up to 1.4, with v largest in y"));
}

// Normalization of two numbers that almost agree multiplies their rounding: H is off by far more
// than the rounding band of its spectrum, along the shifts of both numbers, too, which change
// nothing.
TEST(StructureAnalyzer, KnowsHowFarTheHessianIsOff) {
  ModelBuilder builder("normalization");
  const Var weights = builder.parameter("weights", {3, 2});
  const Var out = builder.parameter("out", {2});
  const Var normal = standardize_rows(matmul(builder.array("inputs", {1, 3}), weights), 1e-5);
  Model model =
      builder.finish(0.5 * square(tanh(matmul(normal, out)) - builder.array("target", {})));
  model.invariances = {
      {"shift of both", 3, [](Eigen::Index k) {
         return AffineGenerator{.linear = {}, .constant = {{2 * k, 1.0}, {2 * k + 1, 1.0}}};
       }}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Numbers numbers(seed);
    const GraphObjective objective(model, numbers.table(8, 4));
    Eigen::VectorXd theta = numbers.vector(8);
    for (Eigen::Index k = 0; k < 3; ++k) {
      theta[2 * k] *= 10;
      theta[2 * k + 1] = theta[2 * k] + 0.01 * theta[2 * k + 1];
    }
    EXPECT_EQ(structure(objective, theta, "num_unconfirmed"), 0) << seed;
    EXPECT_GE(structure(objective, theta, "num_explained"), 3) << seed;
  }
}

// Where y is not within 1e-6 of 0 the loss is not finite: nothing tells that x is dead.
TEST(StructureAnalyzer, DoesNotExplainWhatIsNotFiniteNearby) {
  const auto objective = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        using std::sqrt;
        return T(sqrt(1e-12 - x(1) * x(1)));
      },
      2,
      1);
  EXPECT_EQ(structure(objective, Eigen::Vector2d(1, 0), "num_dead"), 0);
  EXPECT_EQ(structure(objective, Eigen::Vector2d(1, 0), "num_unexplained"), 1);
}

// Where the loss is linear each zero is explained, and no eigenvalue is left to take a median of.
TEST(StructureAnalyzer, HasNoMediansWhereEveryEigenvalueIsExplained) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Zero(2, 2)}, Eigen::Vector2d(1, 2));
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kIterative}) {
    const Analysis analysis =
        analyze(objective, {{"here", Eigen::Vector2d::Ones()}}, {"structure"}, {.method = method});
    EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
    for (const char* name : {"median_without_explained",
                             "median_magnitude_without_explained",
                             "robust_eigenvalue_without_explained",
                             "robust_absolute_without_explained"}) {
      EXPECT_EQ(analysis[0].status("structure", name), Status::kUndefinedTooFewPoints) << name;
    }
  }
}

// [1, -1; -1, 1] has a zero that no known invariance explains.
TEST(StructureAnalyzer, LeavesAZeroThatNothingExplains) {
  Eigen::Matrix2d h;
  h << 1, -1, -1, 1;
  const test::QuadraticObjective objective({h});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d(1, 2)}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "num_unexplained"), 1);
  EXPECT_EQ(analysis[0].status("structure", "robust_eigenvalue_without_explained"),
            Status::kUndefinedZeroMedian);
}

TEST(StructureAnalyzer, OfAPlaneHasNoMedianLeft) {
  const test::QuadraticObjective plane({Eigen::MatrixXd::Zero(2, 2)}, Eigen::Vector2d(1, 2));
  const Analysis analysis = analyze(plane, {{"here", Eigen::Vector2d::Ones()}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
  EXPECT_NE(analysis[0].status("structure", "median_without_explained"), Status::kOk);
  EXPECT_TRUE(std::isnan(analysis[0].number("structure", "median_without_explained")));
}

TEST(StructureAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::product_of_two({2}), {{"here", Eigen::Vector2d(kNaN, 1)}}, {"structure"});
  for (const char* name : {"num_dead", "num_explained", "dead", "median_without_explained"}) {
    EXPECT_EQ(analysis[0].status("structure", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
