// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of scores (N, C, d) and labels (N, d), by their definition.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::add_indices;
using test::expect_computes;
using test::expect_refused;
using test::index_at;
using test::OperatorFixture;

constexpr int kClasses = 3;
constexpr int kPlaces = 2;
constexpr std::int64_t kIgnored = -1;

// -log softmax of the scores of one place at the label; scores (C, places).
template <typename T, typename Theta>
T cross_entropy_at(const Theta& scores, int place, std::int64_t label) {
  using std::exp;
  using std::log;
  T sum(0.0);
  for (int c = 0; c < kClasses; ++c) sum += exp(scores(c * kPlaces + place));
  return log(sum) - scores(label * kPlaces + place);
}

// Scores (1, 3, 2), labels (1, 2), perhaps weights (3).
OperatorFixture& with_known_labels(OperatorFixture& op,
                                   const std::vector<std::int64_t>& labels,
                                   bool is_weighted) {
  op.parameter({1, kClasses, kPlaces}).integers({1, kPlaces}, labels);
  return is_weighted ? op.parameter({kClasses}) : op;
}

TEST(SoftmaxCrossEntropyLoss, IsReducedByWeightsAndWithoutWhatDoesNotCount) {
  for (const std::string reduction : {"none", "sum", "mean"}) {
    for (const bool is_weighted : {false, true}) {
      for (const std::int64_t last : {std::int64_t{1}, kIgnored}) {
        SCOPED_TRACE(reduction);
        OperatorFixture op("SoftmaxCrossEntropyLoss");
        op.with("reduction", reduction.c_str()).with("ignore_index", static_cast<int>(kIgnored));
        const onnx::Value y = with_known_labels(op, {2, last}, is_weighted).result();
        EXPECT_EQ(text(y.axes), reduction == "none" ? "(1, 2)" : "()");
        expect_computes(op, y, [&](const auto& theta, const double*) {
          using T = typename std::decay_t<decltype(theta)>::Scalar;
          const auto weight = [&](std::int64_t label) {
            return label == kIgnored ? T(0.0) : is_weighted ? T(theta(6 + label)) : T(1.0);
          };
          std::vector<T> losses = {weight(2) * cross_entropy_at<T>(theta, 0, 2), T(0.0)};
          if (last != kIgnored) losses[1] = weight(last) * cross_entropy_at<T>(theta, 1, last);
          if (reduction == "none") return losses;
          const T sum = losses[0] + losses[1];
          return std::vector<T>{reduction == "sum" ? sum : T(sum / (weight(2) + weight(last)))};
        });
      }
    }
  }
}

TEST(SoftmaxCrossEntropyLoss, GivesEachSamplesLossAndLogProbabilities) {
  OperatorFixture op("SoftmaxCrossEntropyLoss");
  op.with("reduction", "none").with("ignore_index", 0).outputs({"y", "log_prob"});
  const onnx::Axes scores = {onnx::kBatchAxis, {.size = kClasses}, {.size = kPlaces}};
  const Var logits = op.graph().parameter(0, kClasses * kPlaces, 1);
  op.value({.axes = scores, .var = logits});
  add_indices(op, {kPlaces}, kClasses);
  const onnx::Values results = op.results();
  EXPECT_EQ(text(results[0].axes), "(N, 2)");
  EXPECT_EQ(text(results[1].axes), "(N, 3, 2)");
  expect_computes(op, results[0], [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> losses;
    for (int p = 0; p < kPlaces; ++p) {
      const Eigen::Index label = index_at(record[p], kClasses);
      losses.push_back(label == 0 ? T(0.0) : cross_entropy_at<T>(theta, p, label));
    }
    return losses;
  });
}

TEST(SoftmaxCrossEntropyLoss, HasLogProbabilitiesOfAllClasses) {
  OperatorFixture op("SoftmaxCrossEntropyLoss");
  with_known_labels(op.outputs({"y", "log_prob"}), {0, 1}, false);
  const onnx::Values results = op.results();
  EXPECT_EQ(text(results[1].axes), "(1, 3, 2)");
  expect_computes(op, results[1], [](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (int c = 0; c < kClasses; ++c) {
      for (int p = 0; p < kPlaces; ++p) entries.push_back(-cross_entropy_at<T>(theta, p, c));
    }
    return entries;
  });
}

TEST(NegativeLogLikelihoodLoss, TakesTheScoreAtTheLabel) {
  for (const bool is_weighted : {false, true}) {
    OperatorFixture op("NegativeLogLikelihoodLoss");
    op.with("ignore_index", static_cast<int>(kIgnored));
    const onnx::Value y = with_known_labels(op, {2, 0}, is_weighted).result();
    expect_computes(op, y, [&](const auto& x, const double*) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      if (!is_weighted) return std::vector<T>{-(x(4) + x(1)) / T(2.0)};
      return std::vector<T>{-(x(8) * x(4) + x(6) * x(1)) / (x(8) + x(6))};
    });
  }
}

TEST(NegativeLogLikelihoodLoss, FollowsLabelsFromData) {
  OperatorFixture op("NegativeLogLikelihoodLoss");
  op.with("reduction", "none").with("ignore_index", 1).data({kClasses});
  add_indices(op, {}, kClasses);
  op.parameter({kClasses});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N,)");
  expect_computes(op, y, [](const auto& weights, const double* record) {
    using T = typename std::decay_t<decltype(weights)>::Scalar;
    const Eigen::Index label = index_at(record[kClasses], kClasses);
    return std::vector<T>{label == 1 ? T(0.0) : T(-weights(label) * T(record[label]))};
  });
}

TEST(Losses, AreNotANumberWhereDataHaveALabelThatIsNone) {
  for (const char* name : {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}) {
    SCOPED_TRACE(name);
    OperatorFixture op(name);
    op.with("reduction", "none").parameter({2, kClasses}).data_with_axes({{.size = 2}});
    const onnx::Value y = op.result();
    op.graph().set_prediction(*y.var);
    op.graph().set_output(sum(*y.var));
    const std::vector<double> theta(6, -1.0);
    const std::vector<double> labels = {3, -1};
    std::vector<double> losses(2);
    Sweep::create(op.graph())->predictions(theta, {labels.data(), 1, 2}, losses);
    EXPECT_TRUE(std::isnan(losses[0]));
    EXPECT_TRUE(std::isnan(losses[1]));
  }
}

// A sum over samples is a sample's own until it is divided by their number, with weights, too.
TEST(Losses, AddUpOverSamples) {
  OperatorFixture op("SoftmaxCrossEntropyLoss");
  op.with("reduction", "sum").with("ignore_index", 0).data({kClasses});
  add_indices(op, {}, kClasses);
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "()");
  ASSERT_NE(y.batch_total, nullptr);
  EXPECT_EQ(y.batch_total->kind, onnx::BatchTotal::Kind::kSum);
  expect_computes(op, y, [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const auto label = index_at(record[kClasses], kClasses);
    double sum = 0;
    for (int k = 0; k < kClasses; ++k) sum += std::exp(record[k]);
    return std::vector<T>{T(label == 0 ? 0.0 : std::log(sum) - record[label])};
  });
}

TEST(Losses, AreNoMeansOfWeightedSamples) {
  OperatorFixture weighted("NegativeLogLikelihoodLoss");
  weighted.with("ignore_index", 0).data({kClasses});
  add_indices(weighted, {}, kClasses);
  expect_refused(weighted, "'mean' over axis 0 of (N,), the batch (N), with weights or ignored");
  OperatorFixture classes("NegativeLogLikelihoodLoss");
  classes.data_with_axes({{.size = 1}, onnx::kBatchAxis}).integers({1}, {0});
  expect_refused(classes, "its classes are along axis 1 of (1, N), the batch (N)");
}

TEST(Losses, RefuseLabelsAndWeightsThatDoNotFit) {
  OperatorFixture label("SoftmaxCrossEntropyLoss");
  expect_refused(with_known_labels(label, {0, 3}, false), "label 3 is not one of 3 classes");
  OperatorFixture shape("SoftmaxCrossEntropyLoss");
  shape.parameter({2, kClasses}).integers({3}, {0, 0, 0});
  expect_refused(shape, "labels (3,) do not fit scores (2, 3)");
  OperatorFixture weights("NegativeLogLikelihoodLoss");
  expect_refused(with_known_labels(weights, {0, 1}, false).parameter({2}),
                 "needs a weight for each of 3 classes, got (2,)");
  OperatorFixture reduction("NegativeLogLikelihoodLoss");
  expect_refused(with_known_labels(reduction.with("reduction", "median"), {0, 1}, false),
                 "reduction 'median' is not one of none, mean and sum");
}

}  // namespace
}  // namespace hesscope
