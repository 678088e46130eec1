// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>

#include "models/linear_attention_recursion.h"
#include "models/model_oracle.h"
#include "models/prompts.h"

namespace hesscope {
namespace {

using Parametrization = LinearAttentionParametrization;
using test::Column;
using test::LinearAttentionRecursion;

struct LinearAttentionShape {
  const char* name;
  LinearAttentionOptions options;
};

void PrintTo(const LinearAttentionShape& shape, std::ostream* out) { *out << shape.name; }

class LinearAttention : public testing::TestWithParam<LinearAttentionShape> {
 protected:
  const LinearAttentionOptions options = GetParam().options;
  const Model model = linear_attention(options);
  const SampleTable samples = test::prompts(options, 5, 3);
};

TEST_P(LinearAttention, EqualsThePaperRecursionAtRandomWeights) {
  const Eigen::VectorXd theta = test::Numbers(4).vector(model.num_parameters());
  test::expect_exact(model, LinearAttentionRecursion{options}, theta, samples);
}

// Zero is a kink of a perceptron.
class SmoothLinearAttention : public LinearAttention {};

TEST_P(SmoothLinearAttention, EqualsThePaperRecursionAtZeroWeights) {
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(model.num_parameters());
  test::expect_exact(model, LinearAttentionRecursion{options}, theta, samples);
}

TEST_P(LinearAttention, DoesNotDependOnTheOrderOfTheContext) {
  const Eigen::VectorXd theta = test::Numbers(5).vector(model.num_parameters());
  SampleTable reversed = samples;
  const Eigen::Index width = options.context + 1;
  for (Eigen::Index i = 0; i <= options.dimension; ++i) {
    reversed.middleCols(i * width, options.context) =
        samples.middleCols(i * width, options.context).rowwise().reverse().eval();
  }
  test::expect_near(test::from_objective(test::objective_of(model, reversed), theta),
                    test::from_objective(test::objective_of(model, samples), theta),
                    test::kDoubleTolerance,
                    "the context in order");
}

TEST_P(LinearAttention, HasNoCurvatureInTheLastLayersDeadRows) {
  // Only the label row of the last update is read: the other rows of its P do nothing. In the
  // sparse form that row is fixed, so all of the last P is dead.
  const Eigen::VectorXd theta = test::Numbers(6).vector(model.num_parameters());
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  const auto& blocks = model.parameters;
  const std::string name =
      "layers." + std::to_string(options.layers - 1) + (options.heads > 1 ? ".heads.1.P" : ".P");
  const auto block = std::find_if(
      blocks.begin(), blocks.end(), [&](const ParameterBlock& b) { return b.name == name; });
  ASSERT_NE(block, blocks.end());
  const bool sparse = options.parametrization == Parametrization::kSparse ||
                      options.parametrization == Parametrization::kSparseSplitQk;
  const Eigen::Index dead = sparse ? block->size : block->size - (options.dimension + 1);
  EXPECT_EQ(actual.gradient.segment(block->offset, dead), Eigen::VectorXd::Zero(dead));
  EXPECT_EQ(actual.hessian.middleRows(block->offset, dead),
            Eigen::MatrixXd::Zero(dead, theta.size()));
  if (!sparse) {
    EXPECT_GT(actual.hessian.middleRows(block->offset + dead, 1).norm(), 0);
  }
}

const auto shape_name = [](const auto& instance) { return std::string(instance.param.name); };

const auto smooth_shapes = testing::Values(
    LinearAttentionShape{"SparseThreeLayers", {3, 2, 4, Parametrization::kSparse}},
    LinearAttentionShape{"SparseOneCovariate", {4, 1, 3, Parametrization::kSparse}},
    LinearAttentionShape{"FullThreeLayers", {3, 1, 4, Parametrization::kFull}},
    LinearAttentionShape{"FullOneLayer", {1, 2, 5, Parametrization::kFull}},
    LinearAttentionShape{"FullOneExample", {2, 1, 1, Parametrization::kFull}},
    LinearAttentionShape{"SplitTwoLayers", {2, 1, 4, Parametrization::kSplitQk}},
    LinearAttentionShape{"SparseSplitTwoLayers", {2, 2, 4, Parametrization::kSparseSplitQk}},
    LinearAttentionShape{"SoftmaxSparse",
                         {2, 2, 4, Parametrization::kSparse, LinearAttentionActivation::kSoftmax}},
    LinearAttentionShape{"SoftmaxFull",
                         {3, 1, 4, Parametrization::kFull, LinearAttentionActivation::kSoftmax}},
    LinearAttentionShape{"SoftmaxOneExample",
                         {2, 1, 1, Parametrization::kFull, LinearAttentionActivation::kSoftmax}},
    LinearAttentionShape{"SoftmaxSplit",
                         {2, 1, 3, Parametrization::kSplitQk, LinearAttentionActivation::kSoftmax}},
    LinearAttentionShape{"TwoHeads",
                         {1, 1, 4, Parametrization::kFull, LinearAttentionActivation::kNone, 0, 2}},
    LinearAttentionShape{
        "TwoSoftmaxHeads",
        {1, 1, 3, Parametrization::kFull, LinearAttentionActivation::kSoftmax, 0, 2}});

INSTANTIATE_TEST_SUITE_P(Shapes, LinearAttention, smooth_shapes, shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, SmoothLinearAttention, smooth_shapes, shape_name);
INSTANTIATE_TEST_SUITE_P(
    Perceptrons,
    LinearAttention,
    testing::Values(
        LinearAttentionShape{
            "Sparse", {2, 1, 3, Parametrization::kSparse, LinearAttentionActivation::kNone, 3}},
        LinearAttentionShape{
            "Full", {2, 1, 4, Parametrization::kFull, LinearAttentionActivation::kNone, 2}},
        LinearAttentionShape{
            "TwoCovariates",
            {1, 2, 3, Parametrization::kSparse, LinearAttentionActivation::kNone, 2}},
        LinearAttentionShape{
            "Softmax", {2, 1, 3, Parametrization::kFull, LinearAttentionActivation::kSoftmax, 2}}),
    shape_name);

// With more parameters than the oracle above takes, only the value is compared.
TEST(LinearAttentionModel, OfSeveralHeadsInSeveralLayersIsTheRecursion) {
  for (const auto activation :
       {LinearAttentionActivation::kNone, LinearAttentionActivation::kSoftmax}) {
    const LinearAttentionOptions options{3, 2, 4, Parametrization::kFull, activation, 0, 3};
    const SampleTable samples = test::prompts(options, 10, 5);
    const Column<double> theta = test::Numbers(6).vector(3 * 3 * 18);
    const LinearAttentionRecursion recursion{options};
    double sum = 0;
    for (Eigen::Index i = 0; i < samples.rows(); ++i) {
      const double* const record = samples.row(i).data();
      sum += recursion.loss(recursion.prediction(theta, record), record);
    }
    const double expected = sum / static_cast<double>(samples.rows());
    EXPECT_NEAR(test::objective_of(linear_attention(options), samples).value(theta),
                expected,
                1e-12 * expected);
  }
}

// Two heads of opposite Q and P: P softmax(s) - P softmax(-s) is odd in s, and so, of one layer, is
// the prediction in Q.
TEST(LinearAttentionModel, TwoSoftmaxHeadsOfOppositeSignsAreOddInTheScores) {
  const LinearAttentionOptions options{
      1, 2, 6, Parametrization::kFull, LinearAttentionActivation::kSoftmax, 0, 2};
  const Model model = linear_attention(options);
  SampleTable samples = test::prompts(options, 30, 5);
  const Eigen::VectorXd theta = test::Numbers(6).vector(18);
  const auto loss = [&](double sign) {
    Eigen::VectorXd both(36);
    both << theta.head(9), sign * theta.tail(9), -theta.head(9), -sign * theta.tail(9);
    return test::objective_of(model, samples).value(both);
  };
  const double plus = loss(1);
  samples.col(samples.cols() - 1) *= -1;  // the targets
  EXPECT_NEAR(loss(-1), plus, 1e-14 * plus);
  EXPECT_GT(std::abs(loss(1) - plus), 1e-3 * plus);
}

TEST(LinearAttentionModel, RefusesSeveralHeadsThatAreNotFull) {
  EXPECT_THROW(
      linear_attention({1, 2, 6, Parametrization::kSparse, LinearAttentionActivation::kNone, 0, 2}),
      PreconditionError);
  EXPECT_THROW(
      linear_attention({1, 2, 6, Parametrization::kFull, LinearAttentionActivation::kNone, 0, 0}),
      PreconditionError);
}

TEST(LinearAttentionModel, IsQuadraticInPForFixedQWithOneLayer) {
  // prediction = -(1/n) [P S Q q]_{d+1} is linear in P, so the loss is quadratic: equal Hessian
  // blocks everywhere, 2 mean_i v_i v_i^T for the last row of P with v = S Q q / n.
  const LinearAttentionOptions options{1, 2, 5, Parametrization::kFull};
  const Model model = linear_attention(options);
  const SampleTable samples = test::prompts(options, 7, 8);
  const Eigen::VectorXd theta = test::Numbers(9).vector(18);
  Eigen::VectorXd elsewhere = theta;
  elsewhere.head(9) = test::Numbers(10).vector(9);
  const auto objective = test::objective_of(model, samples);
  const Eigen::MatrixXd H = objective.hessian(theta).topLeftCorner(9, 9);
  EXPECT_TRUE((objective.hessian(elsewhere).topLeftCorner(9, 9) - H).norm() <=
              test::kDoubleTolerance * H.norm());

  const Eigen::Matrix3d Q =
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(theta.data() + 9);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(9, 9);
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    const Eigen::Matrix<double, 3, 6> Z =
        Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>>(samples.row(i).data());
    const Eigen::Matrix3d S = Z.leftCols(5) * Z.leftCols(5).transpose();
    const Eigen::Vector3d v = S * Q * Z.col(5) / 5;
    expected.bottomRightCorner(3, 3) += 2 * v * v.transpose() / static_cast<double>(samples.rows());
  }
  EXPECT_TRUE((H - expected).norm() <= test::kDoubleTolerance * expected.norm());
}

// The linear map of theta that conjugates every layer's matrices: P, Q -> T P T^T, T Q T^T.
Eigen::MatrixXd conjugation(const Eigen::Matrix3d& T, Eigen::Index matrices) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(9 * matrices, 9 * matrices);
  for (Eigen::Index m = 0; m < matrices; ++m) {
    for (Eigen::Index i = 0; i < 3; ++i) {
      for (Eigen::Index j = 0; j < 3; ++j) {
        K.block(9 * m + 3 * i, 9 * m + 3 * j, 3, 3) = T(i, j) * T;
      }
    }
  }
  return K;
}

TEST(LinearAttentionModel, TurnsWithItsCovariates) {
  // Z -> diag(R, 1) Z with conjugated weights leaves the loss and turns its derivatives.
  const LinearAttentionOptions options{2, 2, 4, Parametrization::kFull};
  const Model model = linear_attention(options);
  const SampleTable samples = test::prompts(options, 5, 11);
  const Eigen::VectorXd theta = test::Numbers(12).vector(36);
  const double angle = 0.7;
  Eigen::Matrix3d T = Eigen::Matrix3d::Identity();
  T.topLeftCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  SampleTable turned = samples;
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    using Prompt = Eigen::Matrix<double, 3, 5, Eigen::RowMajor>;
    Eigen::Map<Prompt>(turned.row(i).data()) =
        T * Prompt(Eigen::Map<const Prompt>(samples.row(i).data()));
  }
  const Eigen::MatrixXd K = conjugation(T, 4);
  const auto plain = test::from_objective(test::objective_of(model, samples), theta);
  const auto actual = test::from_objective(test::objective_of(model, turned), K * theta);
  test::expect_near(actual,
                    {plain.value, K * plain.gradient, K * plain.hessian * K.transpose()},
                    test::kDoubleTolerance,
                    "the turned derivatives");
}

TEST(LinearAttentionModel, IsInvariantUnderScalingPAgainstQ) {
  // A layer holds only products P S Q: c P and Q / c are the same function, and by the chain rule
  // H(c) = C^-1 H C^-1 with C = diag(c on P, 1/c on Q). c = 4 scales without rounding.
  const LinearAttentionOptions options{2, 2, 4, Parametrization::kFull};
  const Model model = linear_attention(options);
  const SampleTable samples = test::prompts(options, 5, 13);
  const Eigen::VectorXd theta = test::Numbers(14).vector(36);
  Eigen::VectorXd c = Eigen::VectorXd::Ones(36);
  c.segment(18, 9).setConstant(4);  // layers.1.P
  c.segment(27, 9).setConstant(0.25);
  const auto plain = test::from_objective(test::objective_of(model, samples), theta);
  const auto actual =
      test::from_objective(test::objective_of(model, samples), c.cwiseProduct(theta));
  const Eigen::VectorXd inverse = c.cwiseInverse();
  EXPECT_EQ(actual.value, plain.value);
  EXPECT_EQ(actual.gradient, inverse.cwiseProduct(plain.gradient));
  EXPECT_EQ(actual.hessian,
            Eigen::MatrixXd(inverse.asDiagonal() * plain.hessian * inverse.asDiagonal()));
}

TEST(LinearAttentionModel, SplitsQWithoutChangingTheLoss) {
  const LinearAttentionOptions split{2, 2, 4, Parametrization::kSplitQk};
  const LinearAttentionOptions full{2, 2, 4, Parametrization::kFull};
  const SampleTable samples = test::prompts(full, 5, 15);
  const Eigen::VectorXd theta = test::Numbers(16).vector(54);
  Eigen::VectorXd merged(36);
  using Square = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  for (Eigen::Index l = 0; l < 2; ++l) {
    merged.segment(18 * l, 9) = theta.segment(27 * l, 9);
    const Eigen::Map<const Square> WQ(theta.data() + 27 * l + 9);
    const Eigen::Map<const Square> WK(theta.data() + 27 * l + 18);
    Eigen::Map<Square>(merged.data() + 18 * l + 9) = WK.transpose() * WQ;
  }
  const double a = test::objective_of(linear_attention(split), samples).value(theta);
  const double b = test::objective_of(linear_attention(full), samples).value(merged);
  EXPECT_NEAR(a, b, test::kDoubleTolerance * b);
}

TEST(LinearAttentionModel, NamesItsParametersAndArrays) {
  const Model model = linear_attention({2, 5, 20, Parametrization::kSplitQk});
  ASSERT_EQ(model.parameters.size(), 6U);
  EXPECT_EQ(model.parameters[4].name, "layers.1.WQ");
  EXPECT_EQ(model.parameters[4].shape, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(model.parameters[4].offset, 144);
  EXPECT_EQ(model.num_parameters(), 216);
  EXPECT_EQ(model.record_size(), 6 * 21 + 1);
}

TEST(LinearAttentionModel, RefusesEmptySizes) {
  EXPECT_THROW(linear_attention({.layers = 0}), PreconditionError);
  EXPECT_THROW(linear_attention({.dimension = 0}), PreconditionError);
  EXPECT_THROW(linear_attention({.context = 0}), PreconditionError);
  EXPECT_THROW(linear_attention({.mlp_hidden = -1}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
