// SPDX-License-Identifier: BSD-3-Clause
//
// The tangent kernel and what it is made of, against loops over heads and tokens.
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/spectrum.h>

#include "support/maxima.h"
#include "support/numbers.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kHeads = 3;
constexpr Eigen::Index kEmbedding = 4;
constexpr Eigen::Index kHeadDimension = 2;
constexpr Eigen::Index kTokens = 3;
constexpr Eigen::Index kMatrix = kEmbedding * kHeadDimension;
constexpr Eigen::Index kValueWeights = 2 * kHeads * kMatrix;  // where WV begins
constexpr Eigen::Index kOutputWeights = 3 * kHeads * kMatrix;

class TangentKernelTest : public testing::TestWithParam<AttentionKernel> {
 protected:
  GraphObjective objective_of(Eigen::Index num_samples) const {
    return {model, test::Numbers(11).table(num_samples, model.record_size())};
  }

  static Group analyze(const Objective& objective,
                       const Eigen::VectorXd& theta,
                       const std::string& name,
                       const std::map<std::string, SettingValue>& options = {}) {
    const AnalyzerKind& entry = find_analyzer_kind(name);
    const auto analyzer = entry.create(Settings::checked(options, entry.options, "a test"));
    analyzer->dimensions(objective);
    PointAnalysis point(objective, theta);
    return analyzer->analyze(point);
  }

  static const Variable& real(const Group& record, const std::string& name) { return record[name]; }

  static double number(const Group& record, const std::string& name) {
    EXPECT_EQ(real(record, name).status(), Status::kOk) << name;
    return real(record, name).reals().at(0);
  }

  RowMajor weights(Eigen::Index tensor, Eigen::Index head) const {
    return Eigen::Map<const RowMajor>(
        theta.data() + (tensor * kHeads + head) * kMatrix, kEmbedding, kHeadDimension);
  }

  // [S_1 X, ..., S_H X] of every sample, entry by entry.
  Eigen::MatrixXd attended(const SampleTable& samples) const {
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(samples.rows() * kTokens, kHeads * kEmbedding);
    const double root = std::sqrt(static_cast<double>(kHeadDimension));
    for (Eigen::Index i = 0; i < samples.rows(); ++i) {
      const Eigen::Map<const RowMajor> x(samples.row(i).data(), kTokens, kEmbedding);
      for (Eigen::Index h = 0; h < kHeads; ++h) {
        const RowMajor q = x * weights(0, h);
        const RowMajor k = x * weights(1, h);
        for (Eigen::Index t = 0; t < kTokens; ++t) {
          Eigen::VectorXd s(kTokens);
          for (Eigen::Index u = 0; u < kTokens; ++u) {
            s[u] = GetParam() == AttentionKernel::kSoftmax
                       ? std::exp(q.row(t).dot(k.row(u)) / root)
                       : std::exp(-(q.row(t) - k.row(u)).squaredNorm() / (2 * root));
          }
          if (GetParam() == AttentionKernel::kSoftmax) s /= s.sum();
          b.row(i * kTokens + t).segment(h * kEmbedding, kEmbedding) = s.transpose() * x;
        }
      }
    }
    return b;
  }

  static Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& matrix) {
    return dense_spectrum(matrix).eigenvalues;
  }

  const Model model = attention({.heads = kHeads,
                                 .embedding = kEmbedding,
                                 .head_dimension = kHeadDimension,
                                 .sequence = kTokens,
                                 .kernel = GetParam()});
  const Eigen::VectorXd theta = 0.5 * test::Numbers(12).vector(model.num_parameters());
};

TEST_P(TangentKernelTest, HasTheTermsOfItsDefinition) {
  const GraphObjective objective = objective_of(3);  // 9 rows, 12 columns
  const SampleTable samples = test::Numbers(11).table(3, model.record_size());
  const Eigen::MatrixXd b = attended(samples);
  const Eigen::VectorXd of_b = eigenvalues(b * b.transpose());
  const Group terms = analyze(objective, theta, "attention-terms");
  EXPECT_NEAR(number(terms, "b_sigma_min"), std::sqrt(of_b[0]), 1e-7 * std::sqrt(of_b[8]));
  EXPECT_NEAR(number(terms, "b_sigma_max"), std::sqrt(of_b[8]), 1e-13 * std::sqrt(of_b[8]));
  double least = 1e300;
  Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(9, 9);
  for (Eigen::Index h = 0; h < kHeads; ++h) {
    const double norm = theta.segment(kOutputWeights + h * kHeadDimension, kHeadDimension).norm();
    least = test::smaller(least, norm);
    const Eigen::MatrixXd part = b.middleCols(h * kEmbedding, kEmbedding);
    kernel += norm * norm * part * part.transpose();
  }
  EXPECT_NEAR(number(terms, "wo_norm_min"), least, 1e-14);
  const double bound = number(terms, "rate_bound");
  EXPECT_NEAR(bound, 4.0 / 3 * least * least * of_b[0], 1e-10);

  const Group record = analyze(objective, theta, "tangent-kernel");
  const Eigen::VectorXd of_values = eigenvalues(kernel);
  EXPECT_NEAR(real(record, "block_lambda_min").reals().at(2), of_values[0], 1e-12);
  EXPECT_NEAR(real(record, "block_lambda_max").reals().at(2), of_values[8], 1e-12);
  // Each bound is below the next: the terms', the values', the whole kernel's, the ratio itself.
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, 4.0 / 3 * of_values[0] * (1 + 1e-10));
  EXPECT_LE(of_values[0], number(record, "lambda_min") * (1 + 1e-10));
  const double of_all = number(terms, "kernel_rate_bound");
  EXPECT_LE(4.0 / 3 * of_values[0], of_all * (1 + 1e-10));
  EXPECT_LE(of_all, 4.0 / 3 * number(record, "lambda_min") * (1 + 1e-10));
  EXPECT_LE(of_all, number(terms, "rate"));
  const Eigen::MatrixXd j = objective.prediction_jacobian(theta, objective.all_samples());
  const Eigen::MatrixXd trained = j.leftCols(kOutputWeights);
  EXPECT_NEAR(of_all, 4.0 / 3 * eigenvalues(trained * trained.transpose())[0], 1e-12);
  const auto [loss, gradient] = objective.value_and_gradient(theta, objective.all_samples());
  const double rate = gradient.head(kOutputWeights).squaredNorm() / loss;
  EXPECT_NEAR(number(terms, "rate"), rate, 1e-12 * rate);
}

TEST_P(TangentKernelTest, IsTheSumOfItsTensors) {
  const GraphObjective objective = objective_of(4);
  const Eigen::MatrixXd j = objective.prediction_jacobian(theta, objective.all_samples());
  const Eigen::VectorXd whole = eigenvalues(j * j.transpose());
  const Group record = analyze(objective, theta, "tangent-kernel");
  EXPECT_NEAR(number(record, "lambda_min"), whole[0], 1e-12 * whole[11]);
  EXPECT_NEAR(number(record, "lambda_max"), whole[11], 1e-12 * whole[11]);
  ASSERT_EQ(real(record, "block_lambda_min").reals().size(), 4U);
  for (std::size_t b = 0; b < 4; ++b) {
    const ParameterBlock& block = model.parameters[b];
    const Eigen::MatrixXd part = j.middleCols(block.offset, block.size);
    const Eigen::VectorXd values = eigenvalues(part * part.transpose());
    EXPECT_NEAR(real(record, "block_lambda_min").reals()[b], values[0], 1e-12 * whole[11]) << b;
    EXPECT_NEAR(real(record, "block_lambda_max").reals()[b], values[11], 1e-12 * whole[11]) << b;
  }
  EXPECT_EQ(real(record, "block_lambda_min").reals()[3], 0);  // WO: 6 parameters, 12 predictions

  // For some tensors only.
  const Group keys = analyze(objective, theta, "tangent-kernel", {{"tangent-tensors", "WK"}});
  EXPECT_EQ(number(keys, "lambda_min"), real(record, "block_lambda_min").reals()[1]);
  EXPECT_EQ(number(keys, "lambda_max"), real(record, "block_lambda_max").reals()[1]);
  const Group both = analyze(objective, theta, "tangent-kernel", {{"tangent-tensors", "W[QV]"}});
  Eigen::MatrixXd of_both(j.rows(), 2 * model.parameters[0].size);
  of_both << j.middleCols(0, model.parameters[0].size),
      j.middleCols(kValueWeights, model.parameters[2].size);
  const Eigen::VectorXd expected = eigenvalues(of_both * of_both.transpose());
  EXPECT_NEAR(number(both, "lambda_min"), expected[0], 1e-12 * whole[11]);
  EXPECT_NEAR(number(both, "lambda_max"), expected[11], 1e-12 * whole[11]);
  test::expect_refusal<ConfigError>(
      [&] {
        analyze(objective, theta, "tangent-kernel", {{"tangent-tensors", "Q*"}});
      },
      "'tangent-tensors': no parameter is named 'Q*'");
}

TEST_P(TangentKernelTest, SaysWhereRowsDependOnOneAnother) {
  const GraphObjective objective = objective_of(5);  // 15 rows, 12 columns
  const Group terms = analyze(objective, theta, "attention-terms");
  EXPECT_EQ(number(terms, "b_sigma_min"), 0);
  EXPECT_EQ(number(terms, "rate_bound"), 0);
  EXPECT_GT(number(terms, "b_sigma_max"), 0);
}

// The second sample is the first once more.
TEST_P(TangentKernelTest, OfASampleThatIsThereTwiceIsZero) {
  SampleTable samples = test::Numbers(11).table(2, model.record_size());
  samples.row(1) = samples.row(0);
  const GraphObjective objective(model, samples);
  const Group terms = analyze(objective, theta, "attention-terms");
  for (const char* name : {"b_sigma_min", "rate_bound", "kernel_rate_bound"}) {
    EXPECT_EQ(number(terms, name), 0) << name;
  }
  const Group record = analyze(objective, theta, "tangent-kernel");
  EXPECT_EQ(number(record, "lambda_min"), 0);
  for (const double smallest : real(record, "block_lambda_min").reals()) EXPECT_EQ(smallest, 0);
  EXPECT_GT(number(record, "lambda_max"), 0);
}

// With targets that are what is predicted, the loss is the rounding of their sums.
TEST_P(TangentKernelTest, AtAnExactFitHasNoRate) {
  SampleTable samples = test::Numbers(11).table(3, model.record_size());
  const RowMajor b = attended(samples);
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index t = 0; t < kTokens; ++t) {
      double prediction = 0;
      for (Eigen::Index h = 0; h < kHeads; ++h) {
        prediction += (b.row(i * kTokens + t).segment(h * kEmbedding, kEmbedding) * weights(2, h))
                          .dot(theta.segment(kOutputWeights + h * kHeadDimension, kHeadDimension));
      }
      samples(i, kTokens * kEmbedding + t) = prediction;
    }
  }
  const GraphObjective objective(model, samples);
  EXPECT_LT(objective.value(theta), 1e-28);
  const Group terms = analyze(objective, theta, "attention-terms");
  EXPECT_EQ(real(terms, "rate").status(), Status::kUndefinedZeroDenominator);
}

// The attended inputs do not depend on it.
TEST_P(TangentKernelTest, ThatAHeadHasNextToNoOutputChangesNoAttendedInput) {
  const GraphObjective objective = objective_of(3);
  const Group whole = analyze(objective, theta, "attention-terms");
  for (const double size : {1e-322, 0.0}) {
    Eigen::VectorXd other = theta;
    other.segment(kOutputWeights + kHeadDimension, kHeadDimension).setConstant(size);
    const Group terms = analyze(objective, other, "attention-terms");
    for (const char* name : {"b_sigma_min", "b_sigma_max"}) {
      EXPECT_EQ(number(terms, name), number(whole, name)) << name << " " << size;
    }
    EXPECT_NEAR(number(terms, "wo_norm_min"), size, 1e-321);
    EXPECT_EQ(number(terms, "rate_bound"), 0) << size;
    EXPECT_EQ(real(terms, "rate_bound").status(), Status::kOk) << size;
  }
}

TEST_P(TangentKernelTest, IsMissingWhereItIsNotDefined) {
  const GraphObjective objective = objective_of(2);
  Eigen::VectorXd other = theta;
  other[0] = std::nan("");
  for (const std::string name : {"tangent-kernel", "attention-terms"}) {
    const Group record = analyze(objective, other, name);
    ASSERT_FALSE(record.variables.empty());
    for (const Variable& variable : record.variables) {
      EXPECT_EQ(variable.status(), Status::kNonFinite) << variable.name;
    }
    const test::QuadraticObjective quadratic({Eigen::MatrixXd(Eigen::Matrix2d::Identity())});
    EXPECT_THROW(analyze(quadratic, Eigen::Vector2d(1, 2), name), ConfigError);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels,
                         TangentKernelTest,
                         testing::Values(AttentionKernel::kSoftmax, AttentionKernel::kGaussian),
                         [](const auto& kernel) {
                           return kernel.param == AttentionKernel::kSoftmax ? "Softmax"
                                                                            : "Gaussian";
                         });

}  // namespace
}  // namespace hesscope
