// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>

#include "models/model_oracle.h"

namespace hesscope {
namespace {

using test::Column;
using test::Dense;

template <typename T>
T activate(Activation activation, const T& z) {
  using std::erfc;
  using std::exp;
  using std::log;
  using std::sqrt;
  using std::tanh;
  switch (activation) {
    case Activation::kTanh:
      return tanh(z);
    case Activation::kGelu:
      return z * erfc(-z / sqrt(T(2.0))) / T(2.0);
    case Activation::kRelu:
      return z > T(0.0) ? z : T(0.0);
    case Activation::kSoftplus:
      return log(T(1.0) + exp(z));
    case Activation::kIdentity:
      return z;
  }
  return z;
}

// The network unit by unit.
struct MlpLoops {
  MlpOptions options;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const auto& widths = options.widths;
    std::vector<T> z;
    for (std::int64_t i = 0; i < widths.front(); ++i) z.push_back(T(record[i]));
    Eigen::Index next = 0;
    for (std::size_t layer = 1; layer < widths.size(); ++layer) {
      std::vector<T> out(static_cast<std::size_t>(widths[layer]), T(0.0));
      for (T& unit : out) {
        for (const T& in : z) unit += theta(next++) * in;
      }
      const bool is_last = layer + 1 == widths.size();
      const bool has_bias =
          options.bias == MlpBias::kAll || (options.bias == MlpBias::kHidden && !is_last);
      for (T& unit : out) {
        if (has_bias) unit += theta(next++);
        if (!is_last) unit = activate(options.activation, unit);
      }
      z = out;
    }
    return Eigen::Map<const Column<T>>(z.data(), static_cast<Eigen::Index>(z.size()));
  }

  template <typename T>
  T loss(const Column<T>& z, const double* record) const {
    using std::exp;
    using std::log;
    const double* target = record + options.widths.front();
    T total(0.0);
    if (options.loss == MlpLoss::kMeanSquaredError) {
      for (Eigen::Index i = 0; i < z.size(); ++i) {
        const T residual = z(i) - T(target[i]);
        total += residual * residual / T(static_cast<double>(z.size()));
      }
      return total;
    }
    T of_class(0.0);
    for (Eigen::Index i = 0; i < z.size(); ++i) {
      total += exp(z(i));
      if (target[i] == 1) of_class = z(i);
    }
    return log(total) - of_class;
  }
};

SampleTable labelled(const MlpOptions& options, Eigen::Index count, std::uint64_t seed) {
  const Eigen::Index in = options.widths.front();
  const Eigen::Index out = options.widths.back();
  SampleTable table = test::Numbers(seed).table(count, in + out);
  if (options.loss == MlpLoss::kCrossEntropy) {
    table.rightCols(out).setZero();
    for (Eigen::Index i = 0; i < count; ++i)
      table(i, in + (i * i) % out) = 1;  // more of some classes
  }
  return table;
}

struct MlpShape {
  const char* name;
  MlpOptions options;
};

void PrintTo(const MlpShape& shape, std::ostream* out) { *out << shape.name; }

class Mlp : public testing::TestWithParam<MlpShape> {
 protected:
  const MlpOptions options = GetParam().options;
  const Model model = mlp(options);
  const SampleTable samples = labelled(options, 5, 41);
};

TEST_P(Mlp, EqualsPlainLoopsAtRandomWeights) {
  const Eigen::VectorXd theta = 1.5 * test::Numbers(42).vector(model.num_parameters());
  test::expect_exact(model, MlpLoops{options}, theta, samples);
}

TEST_P(Mlp, EqualsPlainLoopsAtZeroWeights) {
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(model.num_parameters());
  if (options.activation != Activation::kRelu) {
    test::expect_exact(model, MlpLoops{options}, theta, samples);
    return;
  }
  // Every pre-activation is exactly at the kink, where differences say nothing.
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  const test::MeanLoss mean{test::Composed{MlpLoops{options}}, samples};
  test::expect_near(actual,
                    test::by_nested_ceres<test::kNested>(mean, theta),
                    test::kDoubleTolerance,
                    "nested Jets");
  test::expect_near(actual,
                    test::fifty_digit_tape(model, theta, samples),
                    test::kExactTolerance,
                    "the 50-digit tape");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    Mlp,
    testing::Values(
        MlpShape{"Tanh", {{2, 3, 3}, Activation::kTanh, MlpLoss::kCrossEntropy}},
        MlpShape{"TanhThreeLayers", {{2, 2, 2, 3}, Activation::kTanh, MlpLoss::kMeanSquaredError}},
        MlpShape{"Gelu", {{2, 3, 3}, Activation::kGelu, MlpLoss::kCrossEntropy}},
        MlpShape{"Relu", {{2, 2, 2, 3}, Activation::kRelu, MlpLoss::kCrossEntropy}},
        MlpShape{"Softplus", {{2, 3, 2}, Activation::kSoftplus, MlpLoss::kMeanSquaredError}},
        MlpShape{"Identity", {{2, 2, 2, 2}, Activation::kIdentity, MlpLoss::kMeanSquaredError}},
        MlpShape{"SoftmaxRegression", {{3, 4}, Activation::kTanh, MlpLoss::kCrossEntropy}},
        MlpShape{"WithoutBiases",
                 {{2, 3, 3}, Activation::kTanh, MlpLoss::kCrossEntropy, MlpBias::kNone}},
        MlpShape{"WithHiddenBiases",
                 {{2, 2, 2, 3}, Activation::kGelu, MlpLoss::kMeanSquaredError, MlpBias::kHidden}}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(ReluMlp, HasSlopeZeroWhereAPreActivationIsExactlyZero) {
  // Inputs of halves and weights of quarters make z exactly 0 for some samples and units only.
  const MlpOptions options{{2, 3, 2}, Activation::kRelu, MlpLoss::kCrossEntropy};
  const Model model = mlp(options);
  SampleTable samples = labelled(options, 4, 43);
  samples.leftCols(2) << 0.5, 0.5, 1, -0.5, -0.5, 1, 2, 2;
  Eigen::VectorXd theta = test::Numbers(44).vector(17);
  theta.head(9) << 0.25, -0.25, 0.5, 1, -0.75, 0.25, 0, 0, 0;
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  const test::MeanLoss mean{test::Composed{MlpLoops{options}}, samples};
  test::expect_near(actual,
                    test::by_nested_ceres<test::kNested>(mean, theta),
                    test::kDoubleTolerance,
                    "nested Jets");
  test::expect_near(actual,
                    test::fifty_digit_tape(model, theta, samples),
                    test::kExactTolerance,
                    "the 50-digit tape");
  EXPECT_GT(actual.gradient.head(6).norm(), 0);
}

TEST(LinearMlp, IsLeastSquares) {
  // One layer, mse: the block of output unit o is (2/out) (1/N) sum_i (x_i, 1) (x_i, 1)^T, whatever
  // the weights; different units do not interact.
  const MlpOptions options{{3, 2}, Activation::kIdentity, MlpLoss::kMeanSquaredError};
  const Model model = mlp(options);
  const SampleTable samples = labelled(options, 9, 45);
  const Eigen::MatrixXd X = samples.leftCols(3);
  const Eigen::MatrixXd XX = X.transpose() * X / 9;
  const Eigen::VectorXd mean = X.colwise().mean();
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(8, 8);  // weight (2, 3), bias (2)
  for (Eigen::Index o = 0; o < 2; ++o) {
    H.block(3 * o, 3 * o, 3, 3) = XX;
    H.block(3 * o, 6 + o, 3, 1) = mean;
    H.block(6 + o, 3 * o, 1, 3) = mean.transpose();
    H(6 + o, 6 + o) = 1;
  }
  for (const std::uint64_t seed : {46U, 47U}) {
    const Eigen::VectorXd theta = test::Numbers(seed).vector(8);
    const auto actual = test::from_objective(test::objective_of(model, samples), theta);
    EXPECT_TRUE((actual.hessian - H).norm() <= test::kDoubleTolerance * H.norm());
    Eigen::VectorXd gradient = H * theta;  // minus the right-hand side of the normal equations
    for (Eigen::Index o = 0; o < 2; ++o) {
      gradient.segment(3 * o, 3) -= X.transpose() * samples.col(3 + o) / 9;
      gradient(6 + o) -= samples.col(3 + o).mean();
    }
    EXPECT_TRUE((actual.gradient - gradient).norm() <= test::kDoubleTolerance * gradient.norm());
  }
}

TEST(SoftmaxRegression, HasTheKroneckerHessian) {
  // (1/N) sum_i (diag(p_i) - p_i p_i^T) kron x_i x_i^T, with x extended by the bias's 1.
  const MlpOptions options{{3, 4}, Activation::kTanh, MlpLoss::kCrossEntropy};
  const Model model = mlp(options);
  const SampleTable samples = labelled(options, 7, 48);
  const Eigen::VectorXd theta = test::Numbers(49).vector(16);
  const Eigen::MatrixXd W =
      Eigen::Map<const Eigen::Matrix<double, 4, 3, Eigen::RowMajor>>(theta.data());
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(16, 16);
  for (Eigen::Index i = 0; i < 7; ++i) {
    Eigen::Vector4d x;
    x << samples.row(i).head(3).transpose(), 1;
    const Eigen::VectorXd e = (W * x.head(3) + theta.tail(4)).array().exp();
    const Eigen::VectorXd p = e / e.sum();
    const auto index = [](Eigen::Index unit, Eigen::Index k) {
      return k < 3 ? 3 * unit + k : 12 + unit;
    };
    for (Eigen::Index a = 0; a < 4; ++a) {
      for (Eigen::Index b = 0; b < 4; ++b) {
        const double curvature = (a == b ? p(a) : 0) - p(a) * p(b);
        for (Eigen::Index k = 0; k < 4; ++k) {
          for (Eigen::Index l = 0; l < 4; ++l) {
            H(index(a, k), index(b, l)) += curvature * x(k) * x(l) / 7;
          }
        }
      }
    }
  }
  const Eigen::MatrixXd actual = test::objective_of(model, samples).hessian(theta);
  EXPECT_TRUE((actual - H).norm() <= test::kDoubleTolerance * H.norm());
}

TEST(CrossEntropy, DoesNotSeeAShiftOfAllLogits) {
  // Adding a constant to every output bias is a flat direction: H v = 0, g . v = 0.
  const MlpOptions options{{2, 4, 3}, Activation::kGelu, MlpLoss::kCrossEntropy};
  const Model model = mlp(options);
  const SampleTable samples = labelled(options, 7, 50);
  const Eigen::VectorXd theta = test::Numbers(51).vector(model.num_parameters());
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(theta.size());
  shift.tail(3).setOnes();
  const auto objective = test::objective_of(model, samples);
  const auto plain = test::from_objective(objective, theta);
  EXPECT_TRUE((plain.hessian * shift).norm() <= test::kDoubleTolerance * plain.hessian.norm());
  EXPECT_TRUE(std::abs(plain.gradient.dot(shift)) <=
              test::kDoubleTolerance * plain.gradient.norm());
  // Logits of 1000 lose 1000 eps each, and none overflows.
  test::expect_near(test::from_objective(objective, theta + 1000 * shift),
                    plain,
                    4e3 * test::kEpsilon,
                    "the logits unshifted");
}

TEST(MlpModel, DoesNotDependOnTheOrderOfHiddenUnits) {
  const MlpOptions options{{2, 4, 3}, Activation::kTanh, MlpLoss::kCrossEntropy};
  const Model model = mlp(options);
  const SampleTable samples = labelled(options, 7, 52);
  const Eigen::VectorXd theta = test::Numbers(53).vector(27);
  // Units 0..3 become 1, 2, 3, 0: rows of the first weight and bias, columns of the second.
  Eigen::VectorXi from(27);
  for (int i = 0; i < 27; ++i) from(i) = i;
  for (int u = 0; u < 4; ++u) {
    const int source = (u + 1) % 4;
    from(2 * u) = 2 * source;
    from(2 * u + 1) = 2 * source + 1;
    from(8 + u) = 8 + source;
    for (int o = 0; o < 3; ++o) from(12 + 4 * o + u) = 12 + 4 * o + source;
  }
  const auto objective = test::objective_of(model, samples);
  const auto plain = test::from_objective(objective, theta);
  test::expect_near(test::from_objective(objective, theta(from)),
                    {plain.value, plain.gradient(from), plain.hessian(from, from)},
                    test::kDoubleTolerance,
                    "the units in order");
}

TEST(ReluMlp, LeavesDeadUnitsExactlyFlat) {
  // A bias of -100 switches hidden unit 1 off for every sample.
  const MlpOptions options{{2, 3, 2}, Activation::kRelu, MlpLoss::kCrossEntropy};
  const Model model = mlp(options);
  Eigen::VectorXd theta = test::Numbers(54).vector(17);
  theta(7) = -100;
  const auto actual =
      test::from_objective(test::objective_of(model, labelled(options, 7, 55)), theta);
  for (const Eigen::Index dead : {2, 3, 7, 10, 13}) {
    EXPECT_EQ(actual.gradient(dead), 0);
    EXPECT_EQ(actual.hessian.row(dead), Eigen::RowVectorXd::Zero(17));
  }
}

TEST(MlpModel, RefusesFewerThanTwoWidthsAndEmptyLayers) {
  EXPECT_THROW(mlp({.widths = {}}), PreconditionError);
  EXPECT_THROW(mlp({.widths = {3}}), PreconditionError);
  EXPECT_THROW(mlp({.widths = {3, 0, 2}}), PreconditionError);
}

// A classifier sure of the right class: its loss and curvature are tiny and must still be right.
TEST(Mlp, KeepsItsAccuracyWhenItIsSure) {
  const Model model = mlp({.widths = {2, 4, 3}, .activation = Activation::kTanh});
  SampleTable samples(2, model.record_size());
  samples << 0.7, -0.4, 1, 0, 0,  //
      0.9, 0.2, 1, 0, 0;
  Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(model.num_parameters(), -0.9, 0.8);
  for (const double margin : {10.0, 20.0, 40.0}) {
    theta.tail(3) << margin, 0, 0;  // the last bias decides for class 0
    const GraphObjective objective = test::objective_of(model, samples);
    const test::Derivatives exact = test::fifty_digit_tape(model, theta, samples);
    EXPECT_LE(std::abs(objective.value(theta) - exact.value), 1e-13 * exact.value) << margin;
    EXPECT_LE((objective.gradient(theta) - exact.gradient).norm(), 1e-13 * exact.gradient.norm());
    EXPECT_LE((objective.hessian(theta) - exact.hessian).norm(), 1e-13 * exact.hessian.norm())
        << margin;
  }
}

TEST(Mlp, KeepsItsAccuracyWhenUnitsSaturate) {
  const Model model = mlp({.widths = {1, 1, 1}, .loss = MlpLoss::kMeanSquaredError});
  SampleTable sample(1, 2);
  sample << 1.0, 0.3;
  for (const double weight : {5.0, 15.0, 19.5, -25.0}) {
    const Eigen::Vector4d theta(weight, 0.1, 0.7, -0.2);
    const test::Derivatives exact = test::fifty_digit_tape(model, theta, sample);
    const Eigen::MatrixXd H = test::objective_of(model, sample).hessian(theta);
    for (Eigen::Index i = 0; i < 4; ++i) {
      for (Eigen::Index j = 0; j < 4; ++j) {
        EXPECT_LE(std::abs(H(i, j) - exact.hessian(i, j)), 1e-12 * std::abs(exact.hessian(i, j)))
            << weight << ' ' << i << ' ' << j;
      }
    }
  }
}

// What the sizes taken from a checkpoint with these shapes are refused for; empty if they are not.
std::string refusal_of(const std::map<std::string, std::vector<std::int64_t>>& shapes,
                       const std::string& bias = "") {
  const ModelKind kind = mlp_kind();
  std::map<std::string, SettingValue> values = {{"activation", std::string("tanh")},
                                                {"loss", std::string("mse")}};
  if (!bias.empty()) values["bias"] = bias;
  const Settings settings = Settings::checked(values, kind.keys, "[model]");
  try {
    kind.build({settings, {"d.npz", {}}}, {"c.npz", shapes});
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(MlpKind, NamesTheWeightThatDoesNotFit) {
  EXPECT_EQ(refusal_of({{"layers.0.weight", {4, 2}},
                        {"layers.0.bias", {4}},
                        {"layers.1.weight", {3, 4}},
                        {"layers.1.bias", {3}}}),
            "");
  EXPECT_EQ(
      refusal_of({{"layers.0.weight", {2, 4}}, {"layers.0.bias", {4}}}),
      "c.npz: tensor 'layers.0.weight': expected shape (out, in) = (4, 2), found (2, 4); it looks "
      "transposed");
  EXPECT_EQ(
      refusal_of({{"layers.0.weight", {4, 2}},
                  {"layers.0.bias", {4}},
                  {"layers.1.weight", {4, 3}},
                  {"layers.1.bias", {3}}}),
      "c.npz: tensor 'layers.1.weight': expected shape (out, in) = (3, 4), found (4, 3); it looks "
      "transposed");
  EXPECT_EQ(refusal_of({{"layers.0.weight", {4, 2}},
                        {"layers.0.bias", {4}},
                        {"layers.1.weight", {3, 5}},
                        {"layers.1.bias", {3}}}),
            "c.npz: tensor 'layers.1.weight': expected shape (out, in) = (3, 4), found (3, 5)");
  EXPECT_EQ(refusal_of({{"layers.0.weight", {4, 2}}, {"layers.1.weight", {3, 5}}}),
            "c.npz: tensor 'layers.1.weight': expected shape (out, in) = (3, 4), found (3, 5)");
}

TEST(MlpKind, HasAllBiasesOrNoneUnlessItIsSaid) {
  const std::map<std::string, std::vector<std::int64_t>> all = {{"layers.0.weight", {4, 2}},
                                                                {"layers.0.bias", {4}},
                                                                {"layers.1.weight", {3, 4}},
                                                                {"layers.1.bias", {3}}};
  auto hidden = all;
  hidden.erase("layers.1.bias");
  auto none = hidden;
  none.erase("layers.0.bias");
  auto last = none;
  last["layers.1.bias"] = {3};
  EXPECT_EQ(refusal_of(none), "");
  EXPECT_EQ(refusal_of(hidden),
            "c.npz: no tensor 'layers.1.bias', although the layers before have one; if the last "
            "layer has none, say so in [model]: bias = \"hidden\"");
  EXPECT_EQ(refusal_of(hidden, "hidden"), "");
  EXPECT_THAT(refusal_of(last), testing::HasSubstr("no tensor 'layers.0.bias'"));
  EXPECT_THAT(refusal_of(hidden, "all"), testing::HasSubstr("no tensor 'layers.1.bias'"));
  EXPECT_THAT(refusal_of(none, "hidden"), testing::HasSubstr("no tensor 'layers.0.bias'"));
}

}  // namespace
}  // namespace hesscope
