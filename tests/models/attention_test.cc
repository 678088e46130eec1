// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>

#include "models/model_oracle.h"

namespace hesscope {
namespace {

using test::Column;

// ||MH - y||^2, token by token and head by head.
struct AttentionLoops {
  AttentionOptions options;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    using std::exp;
    using std::sqrt;
    const auto [heads, D, d, n, kernel] = options;
    const std::int64_t stack = heads * D * d;
    const T root_d = sqrt(T(static_cast<double>(d)));
    // x_k W_h for W = WQ, WK, WV = 0, 1, 2
    const auto project = [&, D = D, d = d](std::int64_t which, std::int64_t h, std::int64_t k) {
      std::vector<T> y;
      for (std::int64_t c = 0; c < d; ++c) {
        T total(0.0);
        for (std::int64_t i = 0; i < D; ++i) {
          total += T(record[k * D + i]) * theta(which * stack + (h * D + i) * d + c);
        }
        y.push_back(total);
      }
      return y;
    };
    Column<T> outputs(n);
    for (std::int64_t k = 0; k < n; ++k) {
      T output(0.0);
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::vector<T> q = project(0, h, k);
        std::vector<T> s;
        for (std::int64_t j = 0; j < n; ++j) {
          const std::vector<T> key = project(1, h, j);
          if (kernel == AttentionKernel::kSoftmax) {
            s.push_back(test::dot<T>(q, key) / root_d);
          } else {
            T distance(0.0);
            for (std::size_t c = 0; c < q.size(); ++c)
              distance += (q[c] - key[c]) * (q[c] - key[c]);
            s.push_back(exp(-distance / (T(2.0) * root_d)));
          }
        }
        if (kernel == AttentionKernel::kSoftmax) s = test::softmax(s);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::vector<T> value = project(2, h, j);
          for (std::int64_t c = 0; c < d; ++c) {
            output += s[static_cast<std::size_t>(j)] * value[static_cast<std::size_t>(c)] *
                      theta(3 * stack + h * d + c);
          }
        }
      }
      outputs(k) = output;
    }
    return outputs;
  }

  template <typename T>
  T loss(const Column<T>& outputs, const double* record) const {
    T total(0.0);
    for (Eigen::Index k = 0; k < outputs.size(); ++k) {
      const T residual = outputs(k) - T(record[options.sequence * options.embedding + k]);
      total += residual * residual;
    }
    return total;
  }
};

struct AttentionShape {
  const char* name;
  AttentionOptions options;
};

void PrintTo(const AttentionShape& shape, std::ostream* out) { *out << shape.name; }

class Attention : public testing::TestWithParam<AttentionShape> {
 protected:
  const AttentionOptions options = GetParam().options;
  const Model model = attention(options);
  const SampleTable samples = test::Numbers(21).table(5, model.record_size());
};

TEST_P(Attention, EqualsPlainLoopsAtRandomWeights) {
  const Eigen::VectorXd theta = test::Numbers(22).vector(model.num_parameters());
  test::expect_exact(model, AttentionLoops{options}, theta, samples);
}

TEST_P(Attention, EqualsPlainLoopsAtZeroWeights) {
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(model.num_parameters());
  test::expect_exact(model, AttentionLoops{options}, theta, samples);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    Attention,
    testing::Values(AttentionShape{"Softmax", {1, 2, 2, 3, AttentionKernel::kSoftmax}},
                    AttentionShape{"SoftmaxTwoHeads", {2, 3, 1, 4, AttentionKernel::kSoftmax}},
                    AttentionShape{"SoftmaxOneToken", {1, 3, 2, 1, AttentionKernel::kSoftmax}},
                    AttentionShape{"Gaussian", {1, 2, 2, 3, AttentionKernel::kGaussian}},
                    AttentionShape{"GaussianTwoHeads", {2, 3, 1, 4, AttentionKernel::kGaussian}}),
    [](const auto& instance) { return std::string(instance.param.name); });

class AttentionSymmetry : public testing::TestWithParam<AttentionKernel> {};

TEST_P(AttentionSymmetry, DoesNotDependOnTheOrderOfHeads) {
  const AttentionOptions options{3, 4, 2, 5, GetParam()};
  const Model model = attention(options);
  const Eigen::Index n = model.num_parameters();
  const SampleTable samples = test::Numbers(23).table(6, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(24).vector(n);
  // permuted(i) = theta(from(i)): heads 0, 1, 2 become heads 1, 2, 0.
  Eigen::VectorXi from(n);
  for (const ParameterBlock& block : model.parameters) {
    const Eigen::Index head = block.size / 3;
    for (Eigen::Index i = 0; i < block.size; ++i) {
      from(block.offset + i) = static_cast<int>(block.offset + (i + head) % block.size);
    }
  }
  const auto plain = test::from_objective(test::objective_of(model, samples), theta);
  test::expect_near(test::from_objective(test::objective_of(model, samples), theta(from)),
                    {plain.value, plain.gradient(from), plain.hessian(from, from)},
                    test::kDoubleTolerance,
                    "the heads in order");
}

TEST_P(AttentionSymmetry, DoesNotDependOnTheOrderOfTokens) {
  const AttentionOptions options{2, 3, 2, 4, GetParam()};
  const Model model = attention(options);
  const SampleTable samples = test::Numbers(25).table(6, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(26).vector(model.num_parameters());
  SampleTable reversed = samples;
  for (Eigen::Index k = 0; k < 4; ++k) {
    reversed.middleCols(3 * k, 3) = samples.middleCols(3 * (3 - k), 3);
    reversed.col(12 + k) = samples.col(12 + 3 - k);
  }
  test::expect_near(test::from_objective(test::objective_of(model, reversed), theta),
                    test::from_objective(test::objective_of(model, samples), theta),
                    test::kDoubleTolerance,
                    "the tokens in order");
}

INSTANTIATE_TEST_SUITE_P(Kernels,
                         AttentionSymmetry,
                         testing::Values(AttentionKernel::kSoftmax, AttentionKernel::kGaussian),
                         [](const auto& instance) {
                           return instance.param == AttentionKernel::kSoftmax ? "Softmax"
                                                                              : "Gaussian";
                         });

TEST(SoftmaxAttention, DoesNotSeeWhatShiftsAllScoresOfARow) {
  // With inputs whose last entry is 1, adding a multiple of that unit vector to WK shifts every key
  // alike and so every row of scores by a constant: a flat direction of value and gradient.
  const AttentionOptions options{1, 3, 2, 4, AttentionKernel::kSoftmax};
  const Model model = attention(options);
  SampleTable samples = test::Numbers(27).table(6, model.record_size());
  for (Eigen::Index k = 0; k < 4; ++k) samples.col(3 * k + 2).setOnes();
  const Eigen::VectorXd theta = test::Numbers(28).vector(model.num_parameters());
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(theta.size());
  shift(6 + 4) = 1;  // WK(2, 0)
  shift(6 + 5) = -2;
  const auto objective = test::objective_of(model, samples);
  const auto plain = test::from_objective(objective, theta);
  test::expect_near(test::from_objective(objective, theta + 8 * shift),
                    plain,
                    test::kDoubleTolerance * 64,  // scores have become some ten times larger
                    "the scores unshifted");
  EXPECT_TRUE((plain.hessian * shift).norm() <= test::kDoubleTolerance * plain.hessian.norm());
  EXPECT_TRUE(std::abs(plain.gradient.dot(shift)) <=
              test::kDoubleTolerance * plain.gradient.norm());
}

TEST(SoftmaxAttention, SurvivesHugeScores) {
  const Model model = attention({1, 2, 2, 3, AttentionKernel::kSoftmax});
  const SampleTable samples = test::Numbers(29).table(5, model.record_size());
  Eigen::VectorXd theta = test::Numbers(30).vector(model.num_parameters());
  theta.head(8) *= 1e3;  // scores near 1e6: rows of the softmax are unit vectors
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  test::expect_near(
      actual, test::fifty_digit_tape(model, theta, samples), 1e-9, "the 50-digit tape");
  EXPECT_GT(actual.hessian.norm(), 0);
}

TEST(AttentionModel, NamesItsParametersAndArrays) {
  const Model model = attention({2, 4, 3, 6, AttentionKernel::kSoftmax});
  ASSERT_EQ(model.parameters.size(), 4U);
  EXPECT_EQ(model.parameters[2].name, "WV");
  EXPECT_EQ(model.parameters[2].shape, (std::vector<std::int64_t>{2, 4, 3}));
  EXPECT_EQ(model.parameters[3].shape, (std::vector<std::int64_t>{6}));
  EXPECT_EQ(model.num_parameters(), 78);
  EXPECT_EQ(model.record_size(), 30);
}

TEST(AttentionModel, RefusesEmptySizes) {
  EXPECT_THROW(attention({.heads = 0}), PreconditionError);
  EXPECT_THROW(attention({.embedding = 0}), PreconditionError);
  EXPECT_THROW(attention({.head_dimension = 0}), PreconditionError);
  EXPECT_THROW(attention({.sequence = 0}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
