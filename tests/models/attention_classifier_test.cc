// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/mlp.h>

#include "models/model_oracle.h"

namespace hesscope {
namespace {

using Options = AttentionClassifierOptions;
using test::Column;
using test::Dense;

constexpr auto kSoftmax = AttentionKernel::kSoftmax;
constexpr auto kGaussian = AttentionKernel::kGaussian;
constexpr auto kRelu = ClassifierActivation::kRelu;
constexpr auto kGelu = ClassifierActivation::kGelu;

// The network token by token, head by head and unit by unit.
struct Loops {
  Options options;

  template <typename T>
  struct Reader {
    const Column<T>& theta;
    Eigen::Index next = 0;

    Dense<T> matrix(Eigen::Index rows, Eigen::Index cols) {
      Dense<T> m(rows, cols);
      for (Eigen::Index i = 0; i < rows; ++i) {
        for (Eigen::Index j = 0; j < cols; ++j) m(i, j) = theta(next++);
      }
      return m;
    }
  };

  // Row `token` of x times w.
  template <typename T>
  static std::vector<T> projected(const Dense<T>& x, Eigen::Index token, const Dense<T>& w) {
    std::vector<T> y(static_cast<std::size_t>(w.cols()), T(0.0));
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      for (Eigen::Index i = 0; i < w.rows(); ++i) {
        y[static_cast<std::size_t>(j)] += x(token, i) * w(i, j);
      }
    }
    return y;
  }

  template <typename T>
  std::vector<T> weights(const Dense<T>& x,
                         Eigen::Index token,
                         const Dense<T>& wq,
                         const Dense<T>& wk) const {
    using std::exp;
    using std::sqrt;
    const T root_d = sqrt(T(static_cast<double>(options.head_dimension)));
    const std::vector<T> q = projected(x, token, wq);
    std::vector<T> s;
    for (Eigen::Index j = 0; j < x.rows(); ++j) {
      const std::vector<T> k = projected(x, j, wk);
      T distance(0.0);
      for (std::size_t c = 0; c < q.size(); ++c) distance += (q[c] - k[c]) * (q[c] - k[c]);
      s.push_back(options.kernel == kSoftmax ? test::dot<T>(q, k) / root_d
                                             : exp(-distance / (T(2.0) * root_d)));
    }
    return options.kernel == kSoftmax ? test::softmax(s) : s;
  }

  template <typename T>
  T activated(const T& z) const {
    using std::erfc;
    using std::sqrt;
    if (options.activation == kGelu) return z * erfc(-z / sqrt(T(2.0))) / T(2.0);
    return z > T(0.0) ? z : T(0.0);
  }

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const Eigen::Index D = options.embedding;
    const Eigen::Index d = options.head_dimension;
    const Eigen::Index m = options.mlp_hidden;
    const Eigen::Index n = options.tokens;
    Reader<T> read{theta};
    Dense<T> x(n, D);
    for (Eigen::Index k = 0; k < n; ++k) {
      for (Eigen::Index i = 0; i < D; ++i) x(k, i) = T(record[k * D + i]);
    }
    for (std::int64_t l = 0; l < options.layers; ++l) {
      std::vector<Dense<T>> wq, wk, wv;
      for (auto* stack : {&wq, &wk, &wv}) {
        for (std::int64_t h = 0; h < options.heads; ++h) stack->push_back(read.matrix(D, d));
      }
      const Dense<T> wo = read.matrix(options.heads * d, D);
      const Dense<T> w0 = read.matrix(m, D);
      const Dense<T> b0 = read.matrix(m, 1);
      const Dense<T> w2 = read.matrix(D, m);
      const Dense<T> b2 = read.matrix(D, 1);
      Dense<T> y = x;
      for (std::size_t h = 0; h < wq.size(); ++h) {
        const Eigen::Index first = static_cast<Eigen::Index>(h) * d;
        for (Eigen::Index k = 0; k < n; ++k) {
          const std::vector<T> s = weights(x, k, wq[h], wk[h]);
          for (Eigen::Index j = 0; j < n; ++j) {
            const std::vector<T> value = projected(x, j, wv[h]);
            for (Eigen::Index i = 0; i < D; ++i) {
              for (Eigen::Index c = 0; c < d; ++c) {
                y(k, i) += s[static_cast<std::size_t>(j)] * value[static_cast<std::size_t>(c)] *
                           wo(first + c, i);
              }
            }
          }
        }
      }
      x = y;
      for (Eigen::Index k = 0; k < n; ++k) {
        for (Eigen::Index u = 0; u < m; ++u) {
          T unit = b0(u, 0);
          for (Eigen::Index i = 0; i < D; ++i) unit += w0(u, i) * y(k, i);
          unit = activated(unit);
          for (Eigen::Index i = 0; i < D; ++i) x(k, i) += w2(i, u) * unit;
        }
        for (Eigen::Index i = 0; i < D; ++i) x(k, i) += b2(i, 0);
      }
    }
    const Dense<T> weight = read.matrix(options.classes, D);
    Column<T> logits(options.classes);
    for (Eigen::Index c = 0; c < options.classes; ++c) {
      logits(c) = read.theta(read.next + c);
      for (Eigen::Index k = 0; k < n; ++k) {
        for (Eigen::Index i = 0; i < D; ++i) {
          logits(c) += weight(c, i) * x(k, i) / T(static_cast<double>(n));
        }
      }
    }
    return logits;
  }

  template <typename T>
  T loss(const Column<T>& logits, const double* record) const {
    using std::exp;
    using std::log;
    const double* target = record + options.tokens * options.embedding;
    T total(0.0);
    T of_class(0.0);
    for (Eigen::Index c = 0; c < logits.size(); ++c) {
      total += exp(logits(c));
      if (target[c] == 1) of_class = logits(c);
    }
    return log(total) - of_class;
  }
};

SampleTable labelled(const Options& options, Eigen::Index count, std::uint64_t seed) {
  const Eigen::Index inputs = options.tokens * options.embedding;
  SampleTable table = test::Numbers(seed).table(count, inputs + options.classes);
  table.rightCols(options.classes).setZero();
  for (Eigen::Index i = 0; i < count; ++i) table(i, inputs + (i * i) % options.classes) = 1;
  return table;
}

struct Shape {
  const char* name;
  Options options;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class AttentionClassifier : public testing::TestWithParam<Shape> {
 protected:
  const Options options = GetParam().options;
  const Model model = attention_classifier(options);
  const SampleTable samples = labelled(options, 2, 61);
};

TEST_P(AttentionClassifier, EqualsPlainLoopsAtRandomWeights) {
  const Eigen::VectorXd theta = test::Numbers(62).vector(model.num_parameters());
  test::expect_exact(model, Loops{options}, theta, samples);
}

// {layers, heads, D, d, m, tokens, classes, ...}, at most 24 parameters
INSTANTIATE_TEST_SUITE_P(
    Shapes,
    AttentionClassifier,
    testing::Values(Shape{"Softmax", {1, 1, 2, 1, 1, 3, 2, kSoftmax, kRelu}},
                    Shape{"SoftmaxTwoLayers", {2, 1, 1, 1, 1, 3, 2, kSoftmax, kGelu}},
                    Shape{"SoftmaxTwoHeads", {1, 2, 1, 1, 2, 2, 3, kSoftmax, kGelu}},
                    Shape{"SoftmaxWideHead", {1, 1, 1, 2, 3, 2, 2, kSoftmax, kRelu}},
                    Shape{"Gaussian", {1, 1, 2, 1, 1, 3, 2, kGaussian, kGelu}},
                    Shape{"GaussianTwoLayers", {2, 1, 1, 1, 1, 3, 2, kGaussian, kRelu}}),
    [](const auto& instance) { return std::string(instance.param.name); });

constexpr Options kSmall = {2, 2, 3, 2, 4, 5, 3, kSoftmax, kGelu};

TEST(AttentionClassifierModel, EqualsPlainLoopsAtZeroWeights) {
  const Options options = {1, 1, 2, 1, 1, 3, 2, kSoftmax, kGelu};
  const Model model = attention_classifier(options);
  test::expect_exact(model,
                     Loops{options},
                     Eigen::VectorXd::Zero(model.num_parameters()),
                     labelled(options, 2, 63));
}

TEST(AttentionClassifierModel, DoesNotDependOnTheOrderOfTokens) {
  for (const AttentionKernel kernel : {kSoftmax, kGaussian}) {
    Options options = kSmall;
    options.kernel = kernel;
    const Model model = attention_classifier(options);
    const SampleTable samples = labelled(options, 6, 64);
    const Eigen::VectorXd theta = test::Numbers(65).vector(model.num_parameters());
    SampleTable reversed = samples;
    for (Eigen::Index k = 0; k < 5; ++k) {
      reversed.middleCols(3 * k, 3) = samples.middleCols(3 * (4 - k), 3);
    }
    test::expect_near(test::from_objective(test::objective_of(model, reversed), theta),
                      test::from_objective(test::objective_of(model, samples), theta),
                      test::kDoubleTolerance,
                      "the tokens in order");
  }
}

TEST(AttentionClassifierModel, IsLogisticRegressionOnTheMeanTokenWhereItsLayersAreZero) {
  const Model model = attention_classifier(kSmall);
  const SampleTable samples = labelled(kSmall, 6, 66);
  Eigen::VectorXd theta = Eigen::VectorXd::Zero(model.num_parameters());
  theta.tail(12) = test::Numbers(67).vector(12);
  SampleTable means(6, 3 + 3);
  means.leftCols(3).setZero();
  for (Eigen::Index k = 0; k < 5; ++k) means.leftCols(3) += samples.middleCols(3 * k, 3) / 5;
  means.rightCols(3) = samples.rightCols(3);
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  test::expect_near(
      {actual.value, actual.gradient.tail(12), actual.hessian.bottomRightCorner(12, 12)},
      test::from_objective(test::objective_of(mlp({.widths = {3, 3}}), means), theta.tail(12)),
      test::kDoubleTolerance,
      "regression on the means");
}

TEST(AttentionClassifierModel, SurvivesHugeScores) {
  for (const AttentionKernel kernel : {kSoftmax, kGaussian}) {
    const Options options = {1, 1, 2, 2, 2, 3, 2, kernel, kGelu};
    const Model model = attention_classifier(options);
    const SampleTable samples = labelled(options, 4, 68);
    Eigen::VectorXd theta = test::Numbers(69).vector(model.num_parameters());
    theta.head(8) *= 1e3;  // WQ and WK
    const auto actual = test::from_objective(test::objective_of(model, samples), theta);
    test::expect_near(
        actual, test::fifty_digit_tape(model, theta, samples), 1e-9, "the 50-digit tape");
    EXPECT_GT(actual.hessian.norm(), 0);
  }
}

TEST(AttentionClassifierModel, NamesItsParametersAndArrays) {
  const Model model = attention_classifier({2, 2, 64, 32, 128, 10, 2, kSoftmax, kGelu});
  ASSERT_EQ(model.parameters.size(), 18U);
  EXPECT_EQ(model.parameters[8].name, "layers.1.WQ");
  EXPECT_EQ(model.parameters[8].shape, (std::vector<std::int64_t>{2, 64, 32}));
  EXPECT_EQ(model.parameters[11].name, "layers.1.WO");
  EXPECT_EQ(model.parameters[11].shape, (std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(model.parameters[12].name, "layers.1.mlp.0.weight");
  EXPECT_EQ(model.parameters[12].shape, (std::vector<std::int64_t>{128, 64}));
  EXPECT_EQ(model.parameters[16].name, "head.weight");
  const Eigen::Index layer = 4 * 64 * 64 + 2 * 64 * 128 + 128 + 64;
  EXPECT_EQ(model.num_parameters(), 2 * layer + 2 * 64 + 2);
  EXPECT_EQ(model.record_size(), 10 * 64 + 2);
}

TEST(AttentionClassifierModel, RefusesEmptySizes) {
  for (auto size : {&Options::layers,
                    &Options::heads,
                    &Options::embedding,
                    &Options::head_dimension,
                    &Options::mlp_hidden,
                    &Options::tokens,
                    &Options::classes}) {
    Options options = kSmall;
    options.*size = 0;
    EXPECT_THROW(attention_classifier(options), PreconditionError);
  }
}

}  // namespace
}  // namespace hesscope
