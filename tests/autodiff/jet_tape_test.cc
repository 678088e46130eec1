// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>
#include <hesscope/core/constants.h>
#include <hesscope/objective/functor_objective.h>

#include "support/derivative_oracle.h"

namespace hesscope::test {
namespace {

// Points large enough to be recorded.
constexpr Eigen::Index kRecorded = detail::kSmallestRecorded;

Eigen::VectorXd ramp(Eigen::Index n) { return Eigen::VectorXd::LinSpaced(n, 0.3, 1.7); }

template <typename F>
ValueGradientHessian by_jets(const F& f, const Eigen::VectorXd& x) {
  using J = Jet<2, 20>;
  const J y = f(detail::seeded<J>(x, {0, x.size(), x.size(), 0}));
  ValueGradientHessian result{
      y.value, Eigen::VectorXd(x.size()), Eigen::MatrixXd(x.size(), x.size())};
  for (int i = 0; i < x.size(); ++i) {
    result.gradient(i) = y.gradient[static_cast<std::size_t>(i)];
    for (int j = 0; j < x.size(); ++j) result.hessian(i, j) = y.second(i, j);
  }
  return result;
}

template <typename F>
void expect_recorded_equals_jets(const F& f, const Eigen::VectorXd& x) {
  double value = 0.0;
  Eigen::VectorXd gradient(x.size());
  Eigen::MatrixXd hessian(x.size(), x.size());
  ASSERT_TRUE(detail::differentiate_recorded(f, x, value, gradient, &hessian));
  const ValueGradientHessian expected = by_jets(f, x);
  EXPECT_EQ(value, expected.value);
  expect_close(gradient, expected.gradient, 64 * kEpsilon, "gradient");
  expect_close(hessian, expected.hessian, 256 * kEpsilon, "Hessian");
}

TEST(RecordedJet, AgreesWithJetsOnEveryOperator) {
  const auto f = [](const auto& x) {
    using std::atan2, std::exp, std::hypot, std::log, std::pow, std::sqrt, std::tanh;
    auto sum = 1.5 - x(0);                        // constant on either side
    sum += 2.0 * x(1) + x(2) * 3.0 - x(3) / 4.0;  // of every operator
    sum -= 5.0 / x(4) - (x(5) - 0.5) + (0.25 + +x(6));
    sum *= x(7) / x(8);                         // compound, and two variables
    sum /= sqrt(x(0)) + x(1) * x(1);            // an argument twice
    sum += x(2) / x(2) + (x(3) - x(3)) * x(4);  // and cancelling
    sum += -tanh(x(5)) * exp(x(6)) + log(x(7)) * pow(x(8), 2.5) + pow(x(0), x(1));
    return sum + atan2(x(2), x(3)) * hypot(x(4), x(5));
  };
  expect_recorded_equals_jets(f, ramp(9));
  expect_recorded_equals_jets(f, ramp(20));  // three blocks of directions, the last not full
}

TEST(RecordedJet, FindsEntriesFarFromTheDiagonal) {
  // x_i depends on x_{n-1-i} alone: each block of directions meets rows of another.
  const auto f = [](const auto& x) {
    using std::exp;
    auto sum = 0.0 * x(0);
    for (Eigen::Index i = 0; i < x.size() / 2; ++i) sum += exp(x(i) * x(x.size() - 1 - i));
    return sum;
  };
  expect_recorded_equals_jets(f, ramp(20));
}

TEST(RecordedJet, BranchesOnValues) {
  const auto f = [](const auto& x) {
    auto sum = x(0) * x(0);
    for (Eigen::Index i = 1; i < x.size(); ++i) sum = x(i) > 1.0 ? sum * x(i) : sum + x(i) * x(0);
    return sum;
  };
  expect_recorded_equals_jets(f, ramp(12));
}

TEST(RecordedJet, IgnoresStepsThatTheResultDoesNotUse) {
  const auto f = [](const auto& x) {
    using std::sqrt;
    const auto unused = sqrt(x(1) - x(1));  // infinite slope
    return unused > 1.0 ? unused : x.squaredNorm();
  };
  expect_recorded_equals_jets(f, ramp(kRecorded));
}

TEST(RecordedJet, OfAConstantHasZeroDerivatives) {
  const auto f = [](const auto& x) { return typename std::decay_t<decltype(x)>::Scalar(7.0); };
  const ValueGradientHessian result = value_gradient_hessian(f, ramp(kRecorded));
  EXPECT_EQ(result.value, 7.0);
  EXPECT_EQ(result.gradient, Eigen::VectorXd::Zero(kRecorded));
  EXPECT_EQ(result.hessian, Eigen::MatrixXd::Zero(kRecorded, kRecorded));
}

TEST(RecordedJet, LeavesKinksToJets) {
  const auto f = [](const auto& x) {
    using std::pow, std::sqrt;
    using T = std::decay_t<decltype(x(0))>;
    return sqrt(x(0)) + sqrt(x(1) * x(1)) + pow(x(2) * x(2), T(0.5)) +
           x.tail(x.size() - 3).squaredNorm();
  };
  Eigen::VectorXd x = ramp(kRecorded);
  x(0) = x(1) = x(2) = 0.0;
  Eigen::VectorXd slope = 2.0 * x;
  slope(0) = kInfinity;
  Eigen::MatrixXd expected = 2.0 * Eigen::MatrixXd::Identity(kRecorded, kRecorded);
  expected(0, 0) = -kInfinity;
  expected(1, 1) = expected(2, 2) = 0.0;
  double value = 0.0;
  Eigen::VectorXd g(kRecorded);
  Eigen::MatrixXd h(kRecorded, kRecorded);
  EXPECT_FALSE(detail::differentiate_recorded(f, x, value, g, &h));
  EXPECT_EQ(gradient(f, x), slope);
  EXPECT_EQ(hessian(f, x), expected);

  const auto objective = make_objective(
      [&f](const auto& theta, Eigen::Index sample) {
        return f(theta) + 0.0 * static_cast<double>(sample);
      },
      kRecorded,
      2);
  EXPECT_EQ(objective.hessian(x), expected);
  EXPECT_EQ(objective.gradient(x), slope);
}

TEST(RecordedJet, LeavesAnInfiniteSecondDerivativeToJets) {
  // pow(x, 1.5) at 0: slope 0, curvature +inf, in the last block of directions.
  const auto f = [](const auto& x) {
    using std::pow;
    return pow(x(x.size() - 1), 1.5) + x.head(x.size() - 1).squaredNorm();
  };
  Eigen::VectorXd x = ramp(20);
  x(19) = 0.0;
  Eigen::MatrixXd expected = 2.0 * Eigen::MatrixXd::Identity(20, 20);
  expected(19, 19) = kInfinity;
  EXPECT_EQ(hessian(f, x), expected);
}

TEST(RecordedJet, LeavesLongFunctionsToJets) {
  // (1 + 1 / m)^m x_0^2 / e by m products, more than a tape holds.
  constexpr int kSteps = static_cast<int>(detail::JetTape::kMaxSteps);
  const auto f = [](const auto& x) {
    auto product = x(0) * x(0);
    for (int i = 0; i < kSteps; ++i) product *= 1.0 + 1.0 / kSteps;
    return product;
  };
  const Eigen::VectorXd x = ramp(kRecorded);
  double value = 0.0;
  Eigen::VectorXd g(kRecorded);
  EXPECT_FALSE(detail::differentiate_recorded(f, x, value, g, nullptr));
  const Eigen::MatrixXd h = hessian(f, x);
  EXPECT_NEAR(h(0, 0), 2.0 * std::exp(1.0), 1e-5);
  EXPECT_EQ(h(1, 0), 0.0);
}

struct Loss {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index sample) const {
    using std::exp, std::log;
    T sum(1.0);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      sum += exp(std::sin(static_cast<double>(7 * i + 3 * sample)) * x(i));
    }
    return log(sum) * x(sample % x.size());
  }
};

TEST(RecordedJet, ServesFunctorObjectives) {
  for (const Eigen::Index n : {kRecorded, Eigen::Index{19}}) {
    const Eigen::Index num_samples = 130;  // three blocks
    const Eigen::VectorXd x = ramp(n);
    const auto objective = make_objective(Loss{}, n, num_samples, {.num_threads = 2});
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index s = 0; s < num_samples; ++s) {
      expected += by_jets([s](const auto& t) { return Loss{}(t, s); }, x).hessian;
    }
    expected /= static_cast<double>(num_samples);
    const Eigen::MatrixXd h = objective.hessian(x);
    expect_close(h, expected, 256 * kEpsilon, "Hessian");
    EXPECT_EQ(h, h.transpose().eval());
    const auto on_one = make_objective(Loss{}, n, num_samples, {.num_threads = 1});
    EXPECT_EQ(on_one.hessian(x), h);
    EXPECT_EQ(on_one.gradient(x), objective.gradient(x));
  }
}

}  // namespace
}  // namespace hesscope::test
