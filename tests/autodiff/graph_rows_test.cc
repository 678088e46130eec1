// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on rows, quotients, broadcasting and stacks of products against scalar code.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>

#include "graph_harness.h"
#include "support/graph_oracle.h"
#include "support/sweep_derivatives.h"

namespace hesscope::test {
namespace {

template <typename M>
using ScalarOf = typename std::decay_t<M>::Scalar;

TEST(GraphRows, DifferentiatesSums) {
  expect_unary([](Var a) { return sum_rows(hadamard(a, a)); },
               [](const auto& a) {
                 Dense<ScalarOf<decltype(a)>> y(3, 1);
                 for (Eigen::Index i = 0; i < 3; ++i) {
                   y(i, 0) = a(i, 0) * a(i, 0) + a(i, 1) * a(i, 1) + a(i, 2) * a(i, 2) +
                             a(i, 3) * a(i, 3);
                 }
                 return y;
               });
}

TEST(GraphRows, DifferentiatesMaxima) {
  expect_unary([](Var a) { return max_rows(a); },
               [](const auto& a) {
                 using T = ScalarOf<decltype(a)>;
                 Dense<T> y(3, 1);
                 for (Eigen::Index i = 0; i < 3; ++i) {
                   y(i, 0) = a(i, 0);
                   for (Eigen::Index j = 1; j < 4; ++j) {
                     if (a(i, j) > y(i, 0)) y(i, 0) = a(i, j);
                   }
                 }
                 return y;
               });
}

TEST(GraphRows, DifferentiatesStandardisedRows) {
  for (const double epsilon : {0.0, 0.3}) {
    expect_unary([&](Var a) { return standardize_rows(a, epsilon); },
                 [&](const auto& a) {
                   using T = ScalarOf<decltype(a)>;
                   using std::sqrt;
                   Dense<T> y(3, 4);
                   for (Eigen::Index i = 0; i < 3; ++i) {
                     const T mean = (a(i, 0) + a(i, 1) + a(i, 2) + a(i, 3)) / 4.0;
                     T variance(0.0);
                     for (Eigen::Index j = 0; j < 4; ++j) {
                       variance += (a(i, j) - mean) * (a(i, j) - mean) / 4.0;
                     }
                     for (Eigen::Index j = 0; j < 4; ++j) {
                       y(i, j) = (a(i, j) - mean) / sqrt(variance + epsilon);
                     }
                   }
                   return y;
                 });
  }
}

TEST(GraphRows, DifferentiatesRowsOverTheirRootMeanSquares) {
  expect_unary([&](Var a) { return rms_normalize_rows(a, 0.3); },
               [&](const auto& a) {
                 using T = ScalarOf<decltype(a)>;
                 using std::sqrt;
                 Dense<T> y(3, 4);
                 for (Eigen::Index i = 0; i < 3; ++i) {
                   T square(0.0);
                   for (Eigen::Index j = 0; j < 4; ++j) square += a(i, j) * a(i, j) / 4.0;
                   for (Eigen::Index j = 0; j < 4; ++j) y(i, j) = a(i, j) / sqrt(square + 0.3);
                 }
                 return y;
               });
}

TEST(GraphRows, RefusesEpsilonsThatAreNoNumberFromZeroOn) {
  for (const double epsilon : {-1e-5, kNaN, std::numeric_limits<double>::infinity()}) {
    Graph g;
    EXPECT_THROW(standardize_rows(g.parameter(0, 2, 3), epsilon), PreconditionError);
    EXPECT_THROW(rms_normalize_rows(g.parameter(0, 2, 3), epsilon), PreconditionError);
  }
}

TEST(GraphRows, DifferentiatesLogSumExp) {
  expect_unary([](Var a) { return log_sum_exp_rows(a); },
               [](const auto& a) {
                 using T = ScalarOf<decltype(a)>;
                 using std::exp;
                 using std::log;
                 Dense<T> y(3, 1);
                 for (Eigen::Index i = 0; i < 3; ++i) {
                   T total(0.0);
                   for (Eigen::Index j = 0; j < 4; ++j) total += exp(a(i, j));
                   y(i, 0) = log(total);
                 }
                 return y;
               });
}

TEST(GraphRows, DifferentiatesCrossEntropyWithSoftAndWeightedTargets) {
  Eigen::MatrixXd t(3, 4);
  t << 0.1, 0.2, 0.3, 0.4,  // probabilities
      0, 0, 2.5, 0,         // one class, weighted
      0, 0, 0, 0;           // a row that does not count
  expect_unary([&](Var a) { return cross_entropy_rows(3.0 * a, a.graph().constant(t)); },
               [&](const auto& a) {
                 using T = ScalarOf<decltype(a)>;
                 using std::exp;
                 using std::log;
                 Dense<T> y(3, 1);
                 for (Eigen::Index i = 0; i < 3; ++i) {
                   T total(0.0);
                   for (Eigen::Index j = 0; j < 4; ++j) total += exp(T(3.0) * a(i, j));
                   y(i, 0) = T(0.0);
                   for (Eigen::Index j = 0; j < 4; ++j) {
                     y(i, 0) += T(t(i, j)) * (log(total) - T(3.0) * a(i, j));
                   }
                 }
                 return y;
               });
}

// Classes that a mask rules out are as none.
TEST(GraphRows, TakesCrossEntropyBesideMinusInfinity) {
  const auto loss = [](Graph& g, bool has_ruled_out) {
    Var z = g.parameter(0, 1, 2);
    Eigen::RowVectorXd t = Eigen::RowVector2d(0, 2.5);
    if (has_ruled_out) {
      const std::vector<std::int32_t> entries = {0, -1, 1, -1};
      const Var mask = g.constant(Eigen::RowVector4d(1, 0, 1, 0));
      const Var none = g.constant(Eigen::RowVectorXd::Constant(4, -kInfinity));
      z = select(mask, gather(z, entries, 1, 4), none);
      t = Eigen::RowVector4d(0, 0, 2.5, 0);
    }
    g.set_output(cross_entropy_rows(z, g.constant(t)));
  };
  Graph masked;
  loss(masked, true);
  Graph plain;
  loss(plain, false);
  const Eigen::Vector2d theta(0.3, -1.1);
  const Derivatives actual = from_sweep(masked, theta, SampleTable::Zero(1, 1));
  const Derivatives expected = from_sweep(plain, theta, SampleTable::Zero(1, 1));
  EXPECT_EQ(actual.value, expected.value);
  EXPECT_EQ(actual.gradient, expected.gradient);
  EXPECT_EQ(actual.hessian, expected.hessian);
}

// One score far above the others: derivatives of the size of exp(-36), of all orders.
TEST(GraphRows, KeepsRelativeAccuracyWhereSoftmaxIsSure) {
  for (const bool is_log_sum : {false, true}) {
    Graph g;
    const Var z = g.parameter(0, 1, 4);
    const Var weights = g.constant(Eigen::RowVector4d(-1, 2, 0.5, 3));
    g.set_output(is_log_sum ? log_sum_exp_rows(z) - slice(z, 0, 1, 1, 1)
                            : sum(hadamard(weights, softmax_rows(z))));
    const Eigen::Vector4d theta(0.5, 38, -1, 1.25);
    const SampleTable samples = SampleTable::Zero(3, 1);
    const MultiprecisionDerivatives exact =
        multiprecision_derivatives(g, span_of(theta), records_of(samples));
    ASSERT_TRUE(exact.hessian.norm() > 0 && exact.hessian.norm() < 1e-14);
    const Derivatives found = from_sweep(g, theta, samples);
    EXPECT_TRUE((found.hessian - exact.hessian).norm() <= 1e-14 * exact.hessian.norm());
    EXPECT_TRUE((found.gradient - exact.gradient).norm() <= 1e-14 * exact.gradient.norm() ||
                is_log_sum);
    const Eigen::MatrixXd u = Numbers(8).table(4, 2);
    const Eigen::MatrixXd third = third_derivatives_from_sweep(g, theta, samples, u, u);
    const Eigen::MatrixXd exact_third =
        multiprecision_third_derivative_times(g, span_of(theta), records_of(samples), u, u);
    EXPECT_TRUE((third - exact_third).norm() <= 1e-13 * exact_third.norm());
    const Eigen::MatrixXd lines = line_derivatives_from_sweep(g, theta, samples, u);
    for (Eigen::Index k = 0; k < 2; ++k) {
      const double second = u.col(k).dot(exact.hessian * u.col(k));
      EXPECT_TRUE(std::abs(lines(2, k) - second) <= 1e-13 * std::abs(second));
      const double along = u.col(k).dot(exact_third.col(k));
      EXPECT_TRUE(std::abs(lines(3, k) - along) <= 1e-13 * exact_third.col(k).norm());
    }
  }
}

// sqrt has no slope at -1 and an infinite one at 0; a condition needs neither.
TEST(GraphRows, TakesNoSlopesOfWhatOnlyConditionsLookAt) {
  Graph g;
  const Var z = g.parameter(0, 1, 3);
  const Var root = sqrt(z);
  const Var is_none = g.constant(Eigen::RowVector3d(1, 1, 1)) - equal(root, root);
  g.set_output(sum(select(is_none, 3.0 * z, square(z))));
  const Derivatives d = from_sweep(g, Eigen::Vector3d(-1, 0, 4), SampleTable::Zero(1, 1));
  EXPECT_EQ(d.value, 13);
  EXPECT_EQ(d.gradient, Eigen::Vector3d(3, 0, 8));
  EXPECT_EQ(d.hessian, Eigen::Matrix3d(Eigen::Vector3d(0, 2, 2).asDiagonal()));
}

// Loss, gradient and Hessian of max(theta_0, theta_1, theta_2) at a point with ties.
TEST(GraphRows, GivesTheSlopeOfATieToTheFirst) {
  Graph g;
  g.set_output(max_rows(g.parameter(0, 1, 3)));
  const Derivatives d = from_sweep(g, Eigen::Vector3d(1, 2, 2), SampleTable::Zero(1, 1));
  EXPECT_EQ(d.value, 2);
  EXPECT_EQ(d.gradient, Eigen::Vector3d(0, 1, 0));
  EXPECT_TRUE(d.hessian.isZero(0));
}

TEST(GraphRows, KeepsNaNsAndInfinitiesInMaxima) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Graph g;
  const double low = -kInfinity;
  const Var a = g.parameter(0, 1, 1);
  const std::vector<std::int32_t> both = {1, 0};
  g.set_output(max_rows(gather(a, g.constant({&low, 1}, 1, 1), both, 1, 2)));
  const Derivatives d = from_sweep(g, Eigen::VectorXd::Constant(1, -3), SampleTable::Zero(1, 1));
  EXPECT_EQ(d.value, -3);
  EXPECT_EQ(d.gradient(0), 1);
  const Derivatives of_nan =
      from_sweep(g, Eigen::VectorXd::Constant(1, kNaN), SampleTable::Zero(1, 1));
  EXPECT_TRUE(std::isnan(of_nan.value));

  Graph of_three;
  of_three.set_output(max_rows(of_three.parameter(0, 1, 3)));
  const Derivatives of_nans =
      from_sweep(of_three, Eigen::Vector3d(9, kNaN, kNaN), SampleTable::Zero(1, 1));
  EXPECT_TRUE(std::isnan(of_nans.value));
  EXPECT_EQ(of_nans.gradient, Eigen::Vector3d(0, 1, 0));  // the first of them
}

// (rows of a, cols of a, rows of b, cols of b): one of each pair is 1 or both are equal.
struct Spread {
  int a_rows, a_cols, b_rows, b_cols;
};

class Broadcast : public testing::TestWithParam<Spread> {
 protected:
  template <typename Recorded, typename Scalar>
  void expect(Recorded recorded, Scalar scalar) {
    const Spread s = GetParam();
    expect_derivatives(
        [&](Graph& g) {
          return recorded(g.parameter(0, s.a_rows, s.a_cols), g.parameter(6, s.b_rows, s.b_cols));
        },
        [&](const auto& theta, const double* /*record*/) {
          using T = ScalarOf<decltype(theta)>;
          const auto a = matrix<T>(theta, 0, s.a_rows, s.a_cols);
          const auto b = matrix<T>(theta, 6, s.b_rows, s.b_cols);
          Dense<T> y(std::max(s.a_rows, s.b_rows), std::max(s.a_cols, s.b_cols));
          for (Eigen::Index i = 0; i < y.rows(); ++i) {
            for (Eigen::Index j = 0; j < y.cols(); ++j) {
              y(i, j) = scalar(a(s.a_rows == 1 ? 0 : i, s.a_cols == 1 ? 0 : j),
                               b(s.b_rows == 1 ? 0 : i, s.b_cols == 1 ? 0 : j));
            }
          }
          return y;
        });
  }
};

TEST_P(Broadcast, Sum) {
  expect([](Var a, Var b) { return a + b; },
         [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a + b); });
}

TEST_P(Broadcast, Difference) {
  expect([](Var a, Var b) { return a - b; },
         [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a - b); });
}

TEST_P(Broadcast, Product) {
  expect([](Var a, Var b) { return hadamard(a, b); },
         [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a * b); });
}

TEST_P(Broadcast, Quotient) {
  // Denominators from 2 to 4.
  expect(
      [](Var a, Var b) {
        const Eigen::MatrixXd three = Eigen::MatrixXd::Constant(1, 1, 3.0);
        return a / (b + a.graph().constant(three));
      },
      [](const auto& a, const auto& b) {
        using T = std::decay_t<decltype(a)>;
        return T(a / (b + T(3.0)));
      });
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         Broadcast,
                         testing::Values(Spread{2, 3, 2, 3},
                                         Spread{2, 3, 1, 3},
                                         Spread{2, 3, 2, 1},
                                         Spread{1, 1, 2, 3},
                                         Spread{2, 1, 1, 3}),
                         [](const auto& instance) {
                           const Spread s = instance.param;
                           return std::to_string(s.a_rows) + "x" + std::to_string(s.a_cols) + "_" +
                                  std::to_string(s.b_rows) + "x" + std::to_string(s.b_cols);
                         });

// Two products: of 1 x 3 and 3 x 1 matrices, stacked, in all ways to share and to transpose.
class Stack : public testing::TestWithParam<std::tuple<bool, bool, bool>> {};

TEST_P(Stack, DifferentiatesEachProduct) {
  const auto [transpose_a, transpose_b, share_a] = GetParam();
  const StackedProduct how{
      .stack = 2, .transpose_a = transpose_a, .transpose_b = transpose_b, .is_shared_a = share_a};
  const int count_a = share_a ? 1 : 2;
  expect_derivatives(
      [&, ta = transpose_a, tb = transpose_b](Graph& g) {
        const Var a = ta ? g.parameter(0, 3 * count_a, 1) : g.parameter(0, count_a, 3);
        const Var b = tb ? g.parameter(6, 2, 3) : g.parameter(6, 6, 1);
        return stacked_matmul(a, b, how);
      },
      [&, shared = share_a](const auto& theta, const double* /*record*/) {
        using T = ScalarOf<decltype(theta)>;
        // Vectors of three entries one behind the other, whatever their shape.
        Dense<T> y(2, 1);
        for (Eigen::Index k = 0; k < 2; ++k) {
          y(k, 0) = T(0.0);
          for (Eigen::Index e = 0; e < 3; ++e) {
            y(k, 0) += theta(shared ? e : 3 * k + e) * theta(6 + 3 * k + e);
          }
        }
        return y;
      });
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         Stack,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()));

// Scalar products of each row with all rows: of one node, as a stack and as what its products
// share.
TEST(GraphRows, DifferentiatesAStackTimesItself) {
  expect_derivatives(
      [](Graph& g) {
        const Var x = hadamard(g.parameter(0, 3, 4), g.input(0, 3, 4));
        return stacked_matmul(x, x, {.stack = 3, .transpose_b = true, .is_shared_b = true});
      },
      [](const auto& theta, const double* record) {
        using T = ScalarOf<decltype(theta)>;
        Dense<T> y = Dense<T>::Constant(3, 3, T(0.0));
        for (Eigen::Index i = 0; i < 3; ++i) {
          for (Eigen::Index j = 0; j < 3; ++j) {
            for (Eigen::Index k = 0; k < 4; ++k) {
              const double data = record[4 * i + k] * record[4 * j + k];
              y(i, j) += theta(4 * i + k) * theta(4 * j + k) * T(data);
            }
          }
        }
        return y;
      });
}

TEST(GraphRows, RefusesStacksThatDoNotFit) {
  Graph g;
  const Var a = g.parameter(0, 3, 2);
  EXPECT_THROW(stacked_matmul(a, a, {.stack = 2}), PreconditionError);
  EXPECT_THROW(stacked_matmul(a, a, {.stack = 0}), PreconditionError);
  EXPECT_THROW(stacked_matmul(a, a, {.stack = 3}), PreconditionError);
}

}  // namespace
}  // namespace hesscope::test
