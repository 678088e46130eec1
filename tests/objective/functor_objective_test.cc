// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/objective/functor_objective.h>

#include "support/derivative_oracle.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using test::kEpsilon;

Eigen::MatrixXd wavy(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return std::sin(static_cast<double>(3 * i + 5 * j * j + i * j + 1));
  });
}

// log(1 + exp(-y x' theta)). With s = 1 / (1 + exp(y x' theta)) the gradient is -y s x and the
// Hessian s (1 - s) x x'.
struct LogisticLoss {
  Eigen::MatrixXd inputs;
  Eigen::VectorXd labels;

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
    using std::exp;
    using std::log1p;
    return log1p(exp(-labels(sample) * inputs.row(sample).dot(theta)));
  }

  double slope(const Eigen::VectorXd& theta, Eigen::Index i) const {
    return 1.0 / (1.0 + std::exp(labels(i) * inputs.row(i).dot(theta)));
  }
};

LogisticLoss logistic(Eigen::Index samples, Eigen::Index n) {
  return {wavy(samples, n), wavy(samples, 1).array().sign()};
}

void expect_close(const Eigen::MatrixXd& actual,
                  const Eigen::MatrixXd& expected,
                  double tolerance) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  const double bound = tolerance * (1.0 + test::largest_magnitude(expected));
  EXPECT_TRUE(test::largest_difference(actual, expected) <= bound)
      << test::largest_difference(actual, expected) << " > " << bound;
}

// n = 3 fits one sweep, 40 takes several; 200 samples are more than three blocks.
class FunctorObjectiveOfSize : public testing::TestWithParam<int> {
 protected:
  static constexpr Eigen::Index kSamples = 200;
  static constexpr SampleRange kRange{30, 190};

  const Eigen::Index n = GetParam();
  const LogisticLoss loss = logistic(kSamples, n);
  const Eigen::VectorXd theta = wavy(n, 1);
};

TEST_P(FunctorObjectiveOfSize, MatchesClosedForms) {
  const auto objective = make_objective(loss, n, kSamples);
  double value = 0.0;
  Eigen::MatrixXd gradients(n, kRange.size());
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = kRange.begin; i < kRange.end; ++i) {
    const double s = loss.slope(theta, i);
    const Eigen::VectorXd x = loss.inputs.row(i).transpose();
    value += -std::log1p(-s) / static_cast<double>(kRange.size());
    gradients.col(i - kRange.begin) = -loss.labels(i) * s * x;
    H += s * (1.0 - s) * x * x.transpose() / static_cast<double>(kRange.size());
  }
  const double bound = 256 * kEpsilon;
  EXPECT_NEAR(objective.value(theta, kRange), value, bound);
  expect_close(objective.per_sample_gradients(theta, kRange), gradients, bound);
  expect_close(objective.gradient(theta, kRange), gradients.rowwise().mean(), bound);
  expect_close(objective.hessian(theta, kRange, {}), H, bound);
  for (const int k : {1, 3, 6, 9, 16}) {
    const Eigen::MatrixXd V = wavy(n, k);
    expect_close(objective.hessian_times(theta, V, kRange), H * V, bound * static_cast<double>(n));
  }
}

// The loss of a sample is called once, however many parameters there are, and for every eight
// directions.
TEST(FunctorObjective, CallsALossOnceForAProduct) {
  std::atomic<int> calls = 0;
  const auto chain = [&calls](const auto& x, Eigen::Index sample) {
    using T = std::decay_t<decltype(x(0))>;
    ++calls;
    T sum(static_cast<double>(sample));
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) sum += x(i) * x(i + 1);
    return sum;
  };
  for (const Eigen::Index n : {9, 100, 1000}) {
    const auto objective = make_objective(chain, n, 2);
    const Eigen::VectorXd theta = wavy(n, 1);
    for (const auto& [k, wanted] : {std::pair(1, 2), std::pair(8, 2), std::pair(9, 4)}) {
      calls = 0;
      const Eigen::MatrixXd V = wavy(n, k);
      const Eigen::MatrixXd products = objective.hessian_times(theta, V);
      EXPECT_EQ(calls, wanted);
      Eigen::MatrixXd exact = Eigen::MatrixXd::Zero(n, k);
      exact.topRows(n - 1) += V.bottomRows(n - 1);
      exact.bottomRows(n - 1) += V.topRows(n - 1);
      expect_close(products, exact, kEpsilon);
    }
    calls = 0;
    objective.per_sample_gradients(theta, objective.all_samples());
    EXPECT_EQ(calls, 2);
  }
}

TEST_P(FunctorObjectiveOfSize, IsBitIdenticalForAnyNumberOfThreads) {
  const auto one = make_objective(loss, n, kSamples, {.num_threads = 1, .samples_per_block = 7});
  const Eigen::MatrixXd V = wavy(n, 3);
  for (const int threads : {2, 3, 5}) {
    const auto many =
        make_objective(loss, n, kSamples, {.num_threads = threads, .samples_per_block = 7});
    EXPECT_EQ(many.value(theta), one.value(theta));
    EXPECT_EQ(many.gradient(theta), one.gradient(theta));
    EXPECT_EQ(many.hessian(theta), one.hessian(theta));
    EXPECT_EQ(many.hessian_times(theta, V), one.hessian_times(theta, V));
    EXPECT_EQ(many.per_sample_gradients(theta, kRange), one.per_sample_gradients(theta, kRange));
  }
}

TEST_P(FunctorObjectiveOfSize, AgreesWithItsOwnOperations) {
  const auto objective = make_objective(loss, n, kSamples);
  const Eigen::MatrixXd H = objective.hessian(theta);
  EXPECT_EQ(H, H.transpose().eval());
  EXPECT_EQ(objective.value_and_gradient(theta, objective.all_samples()).value,
            objective.value(theta));
  // One sample's mean loss is that sample's loss.
  const Eigen::MatrixXd one = objective.hessian(theta, {5, 6}, {});
  const auto single = [&](const auto& t) { return loss(t, 5); };
  EXPECT_EQ(one, hessian(single, theta));
  EXPECT_EQ(objective.gradient(theta, {5, 6}), gradient(single, theta));
}

INSTANTIATE_TEST_SUITE_P(OneAndManySweeps, FunctorObjectiveOfSize, testing::Values(1, 3, 40));

TEST(FunctorObjective, ReportsProgressFromOneThreadAtATime) {
  const auto objective = make_objective(logistic(100, 20), 20, 100, {.samples_per_block = 10});
  std::atomic<int> inside = 0;
  std::vector<double> fractions;
  objective.hessian(wavy(20, 1), objective.all_samples(), [&](double fraction) {
    EXPECT_EQ(++inside, 1);
    fractions.push_back(fraction);
    --inside;
    return true;
  });
  ASSERT_GE(fractions.size(), 10U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GT(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
}

TEST(FunctorObjective, StopsWhenTheProgressCallbackAsks) {
  const auto objective = make_objective(logistic(100, 20), 20, 100, {.samples_per_block = 10});
  int calls = 0;
  const auto stop_at_third = [&](double /*fraction*/) { return ++calls < 3; };
  EXPECT_THROW(objective.hessian(wavy(20, 1), objective.all_samples(), stop_at_third), Interrupted);
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(objective.hessian(wavy(20, 1)).allFinite());  // and works afterwards
}

TEST(FunctorObjective, BeingStoppedIsAStandardException) {
  const auto objective = make_objective(logistic(100, 20), 20, 100);
  const auto stop = [](double /*fraction*/) { return false; };
  try {
    objective.hessian(wavy(20, 1), objective.all_samples(), stop);
    FAIL() << "not stopped";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "interrupted: the caller asked to stop");
  }
}

struct ThrowsAtSample13 {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index sample) const {
    if (sample == 13) throw std::domain_error("sample 13");
    return theta(0) * theta(0);
  }
};

TEST(FunctorObjective, PassesOnTheFunctorsExceptions) {
  const auto objective = make_objective(ThrowsAtSample13{}, 2, 20, {.samples_per_block = 2});
  const Eigen::VectorXd theta = Eigen::Vector2d(1.0, 2.0);
  EXPECT_THROW(objective.value(theta), std::domain_error);
  EXPECT_THROW(objective.gradient(theta), std::domain_error);
  EXPECT_THROW(objective.hessian(theta), std::domain_error);
  EXPECT_THROW(objective.hessian_times(theta, theta), std::domain_error);
  EXPECT_THROW(objective.per_sample_gradients(theta, {0, 20}), std::domain_error);
  EXPECT_EQ(objective.value(theta, {0, 13}), 1.0);
}

TEST(FunctorObjective, ReturnsNonFiniteResults) {
  const auto objective = make_objective(logistic(10, 3), 3, 10);
  Eigen::VectorXd theta = wavy(3, 1);
  theta(1) = kNaN;
  EXPECT_TRUE(std::isnan(objective.value(theta)));
  EXPECT_TRUE(objective.gradient(theta).hasNaN());
  EXPECT_TRUE(objective.hessian(theta).hasNaN());
}

TEST(FunctorObjective, BoundsItsWorkspaceByParametersAndThreads) {
  const auto one = make_objective(logistic(100, 40), 40, 100, {.num_threads = 1});
  const auto three = make_objective(logistic(100, 40), 40, 100, {.num_threads = 3});
  const double parameters_as_jets = 40.0 * sizeof(detail::BlockHessianJet);
  EXPECT_GE(one.workspace_bytes(), parameters_as_jets);
  EXPECT_LE(one.workspace_bytes(), 1.1 * parameters_as_jets);
  EXPECT_EQ(three.workspace_bytes(), 3.0 * one.workspace_bytes());
}

TEST(FunctorObjective, NamesItsParameters) {
  const auto unnamed = make_objective(logistic(4, 3), 3, 4);
  ASSERT_EQ(unnamed.parameter_blocks().size(), 1U);
  EXPECT_EQ(unnamed.parameter_blocks()[0].name, "theta");
  EXPECT_EQ(unnamed.parameter_blocks()[0].size, 3);
  EXPECT_EQ(unnamed.num_parameters(), 3);
  EXPECT_EQ(unnamed.num_samples(), 4);
  const auto named = make_objective(
      logistic(4, 3), 3, 4, {.parameter_blocks = {{"w", {2}, 0, 2}, {"b", {}, 2, 1}}});
  ASSERT_EQ(named.parameter_blocks().size(), 2U);
  EXPECT_EQ(named.parameter_blocks()[1].name, "b");
}

TEST(FunctorObjective, RefusesWhatBreaksItsPreconditions) {
  const LogisticLoss loss = logistic(4, 3);
  const auto objective = make_objective(loss, 3, 4);
  const Eigen::VectorXd theta = wavy(3, 1);
  const Eigen::VectorXd longer = wavy(5, 1);
  expect_refusal([&] { objective.value(longer); }, "theta must have 3 entries, got 5");
  expect_refusal([&] { objective.gradient(longer); }, "theta must have 3 entries, got 5");
  expect_refusal([&] { objective.hessian(longer); }, "theta must have 3 entries, got 5");
  expect_refusal([&] { objective.hessian_times(longer, theta); },
                 "theta must have 3 entries, got 5");
  expect_refusal([&] { objective.hessian_times(theta, longer); },
                 "hessian_times: directions must have 3 rows, got 5");
  for (const SampleRange range : {SampleRange{2, 2}, {3, 2}, {-1, 2}, {0, 5}}) {
    expect_refusal([&] { objective.value(theta, range); }, "value: ");
    expect_refusal([&] { objective.hessian(theta, range, {}); }, "hessian: ");
    expect_refusal([&] { objective.per_sample_gradients(theta, range); }, "per_sample_gradients: ");
  }
  expect_refusal([&] { make_objective(loss, 0, 4); }, "num_parameters must be at least 1, got 0");
  expect_refusal([&] { make_objective(loss, 3, 0); }, "num_samples must be at least 1, got 0");
  expect_refusal([&] { make_objective(loss, 3, 4, {.samples_per_block = 0}); },
                 "samples_per_block must be at least 1, got 0");
  expect_refusal([&] { make_objective(loss, 3, 4, {.num_threads = -1}); }, "num_threads");
  expect_refusal(
      [&] {
        make_objective(loss, 3, 4, {.parameter_blocks = {{"w", {2}, 0, 2}}});
      },
      "FunctorObjective: parameter blocks hold 2 parameters, expected 3");
  expect_refusal(
      [&] {
        make_objective(loss, 3, 4, {.parameter_blocks = {{"w", {2}, 0, 2}, {"b", {1}, 1, 1}}});
      },
      "block 'b' has the offset 1, expected 2");
  expect_refusal(
      [&] {
        make_objective(loss, 3, 4, {.parameter_blocks = {{"w", {7, 9}, 0, 3}}});
      },
      "block 'w' has the size 3, but its shape (7, 9) says 63");
}

}  // namespace
}  // namespace hesscope
