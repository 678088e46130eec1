// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that move entries, choose between them, or look them up, against scalar code;
// constants that are folded, and nodes that are left out.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph_folding.h>

#include "graph_harness.h"
#include "support/graph_oracle.h"
#include "support/sweep_derivatives.h"

namespace hesscope::test {
namespace {

template <typename M>
using ScalarType = typename std::decay_t<M>::Scalar;

TEST(GraphMovement, DifferentiatesGathers) {
  // Some entries twice, some never, two of nothing.
  const std::vector<std::int32_t> table = {3, 3, -1, 0, 11, 5, -1, 7};
  expect_unary([&](Var a) { return gather(hadamard(a, a), table, 2, 4); },
               [&](const auto& a) {
                 using T = ScalarType<decltype(a)>;
                 Dense<T> y(2, 4);
                 for (Eigen::Index e = 0; e < 8; ++e) {
                   const std::int32_t k = table[static_cast<std::size_t>(e)];
                   y(e / 4, e % 4) = k < 0 ? T(0.0) : T(a(k / 4, k % 4) * a(k / 4, k % 4));
                 }
                 return y;
               });
}

TEST(GraphMovement, DifferentiatesGathersFromTwo) {
  const std::vector<std::int32_t> table = {0, 6, 11, 5, 6, -1};
  for (const bool is_swapped : {false, true}) {
    expect_derivatives(
        [&](Graph& g) {
          const Var a = g.parameter(0, 2, 3);
          const Var b = g.input(2, 3, 2);
          return is_swapped ? gather(b, a, table, 3, 2) : gather(a, b, table, 3, 2);
        },
        [&](const auto& theta, const double* record) {
          using T = ScalarType<decltype(theta)>;
          Dense<T> y(3, 2);
          for (Eigen::Index e = 0; e < 6; ++e) {
            const std::int32_t k = table[static_cast<std::size_t>(e)];
            const bool is_first = k < 6;
            const Eigen::Index place = is_first ? k : k - 6;
            y(e / 2, e % 2) = k < 0                    ? T(0.0)
                              : is_first != is_swapped ? T(theta(place))
                                                       : T(record[2 + place]);
          }
          return y;
        });
  }
}

TEST(GraphMovement, SharesTheEntriesOfReshapedNodes) {
  // Both shapes are used, and the reshaped one is reshaped again.
  expect_derivatives(
      [](Graph& g) {
        const Var a = g.parameter(0, 2, 3);
        const Var square_of_a = hadamard(a, a);
        return matmul(square_of_a, reshape(reshape(square_of_a, 6, 1), 3, 2));
      },
      [](const auto& theta, const double* /*record*/) {
        using T = ScalarType<decltype(theta)>;
        Dense<T> y(2, 2);
        for (Eigen::Index i = 0; i < 2; ++i) {
          for (Eigen::Index j = 0; j < 2; ++j) {
            y(i, j) = T(0.0);
            for (Eigen::Index k = 0; k < 3; ++k) {
              const T x = theta(3 * i + k) * theta(3 * i + k);
              const T z = theta(2 * k + j) * theta(2 * k + j);
              y(i, j) += x * z;
            }
          }
        }
        return y;
      });
}

TEST(GraphMovement, TakesTheBranchThatTheDataChoose) {
  expect_derivatives(
      [](Graph& g) {
        const Var a = g.parameter(0, 2, 3);
        const Var b = g.parameter(6, 2, 3);
        const double zero = 0;
        const Var is_positive = less(g.constant({&zero, 1}, 1, 1), g.input(2, 2, 3));
        return select(is_positive, hadamard(a, a), b);
      },
      [](const auto& theta, const double* record) {
        using T = ScalarType<decltype(theta)>;
        Dense<T> y(2, 3);
        for (Eigen::Index e = 0; e < 6; ++e) {
          y(e / 3, e % 3) = record[2 + e] > 0 ? T(theta(e) * theta(e)) : T(theta(6 + e));
        }
        return y;
      });
}

TEST(GraphMovement, LeavesTheOtherBranchAlone) {
  // -infinity in the branch not taken, as masks have it.
  Graph g;
  const double low = -std::numeric_limits<double>::infinity();
  const Var a = g.parameter(0, 1, 1);
  const Var is_one = equal(g.input(0, 1, 1), g.constant(Eigen::MatrixXd::Ones(1, 1)));
  const Var masked = select(is_one, hadamard(a, a), g.constant({&low, 1}, 1, 1));
  g.set_output(exp(masked));
  SampleTable samples(2, 1);
  samples << 1, 0;
  const double theta = 0.5;
  const Derivatives d = from_sweep(g, Eigen::VectorXd::Constant(1, theta), samples);
  const double e = std::exp(theta * theta) / 2;  // half of the samples
  EXPECT_NEAR(d.value, e, 1e-15);
  EXPECT_NEAR(d.gradient(0), 2 * theta * e, 1e-15);
  EXPECT_NEAR(d.hessian(0, 0), (2 + 4 * theta * theta) * e, 4e-15);
}

TEST(GraphMovement, LooksRowsUpByEachSamplesIndices) {
  Graph g;
  const Var table = g.parameter(0, 3, 2);
  const Var rows = lookup(hadamard(table, table), g.input(0, 2, 1));
  g.set_prediction(rows);
  g.set_output(sum(hadamard(rows, rows)));
  SampleTable samples(5, 2);
  samples << 0, 2, 1, 1, 2, 0, 0, 0, 2, 1;
  Eigen::VectorXd theta(6);
  theta << 0.3, -0.7, 1.1, 0.2, -0.4, 0.9;
  // sum over samples and indices k of sum_j theta_kj^4
  Eigen::Vector3d uses = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < samples.size(); ++i) {
    uses(static_cast<Eigen::Index>(samples.data()[i])) += 1.0 / 5;
  }
  const Derivatives d = from_sweep(g, theta, samples);
  for (Eigen::Index p = 0; p < 6; ++p) {
    const double x = theta(p);
    EXPECT_NEAR(d.gradient(p), uses(p / 2) * 4 * x * x * x, 1e-14);
    for (Eigen::Index q = 0; q < 6; ++q) {
      EXPECT_NEAR(d.hessian(p, q), p == q ? uses(p / 2) * 12 * x * x : 0, 1e-13);
    }
  }
  const MultiprecisionDerivatives exact =
      multiprecision_derivatives(g, span_of(theta), records_of(samples));
  expect_near(d, {exact.value, exact.gradient, exact.hessian}, kGraphTolerance, "50 digits");
}

TEST(GraphMovement, SaysNaNForARowThatIsNotThere) {
  Graph g;
  g.set_output(sum(lookup(g.parameter(0, 2, 1), g.input(0, 1, 1))));
  const auto sweep = Sweep::create(g);
  const std::vector<double> theta = {1, 2};
  for (const double k : {-1.0, 2.0, std::nan("")}) {
    EXPECT_TRUE(std::isnan(sweep->value(theta, {&k, 1, 1}))) << k;
  }
}

TEST(GraphMovement, PassesNoDerivativeThroughComparisonsAndSteps) {
  // x [x > 0] is relu; the comparison itself has no slope, nor has floor.
  Graph g;
  const Var a = g.parameter(0, 4, 1);
  const double zero = 0;
  const Var is_positive = less(g.constant({&zero, 1}, 1, 1), a);
  EXPECT_FALSE(g.varies(is_positive));
  const Var steps = elementary(Elementary::kFloor, 10.0 * a);
  g.set_output(sum(hadamard(is_positive, hadamard(a, a)) + steps));
  const Eigen::Vector4d theta(0.55, -0.25, 1.5, -2.75);
  const Derivatives d = from_sweep(g, theta, SampleTable::Zero(1, 1));
  EXPECT_NEAR(d.value, 0.55 * 0.55 + 1.5 * 1.5 + 5 - 3 + 15 - 28, 1e-13);
  EXPECT_TRUE((d.gradient - Eigen::Vector4d(1.1, 0, 3, 0)).norm() <= 1e-15);
  EXPECT_EQ(d.hessian, Eigen::Vector4d(2, 0, 2, 0).asDiagonal().toDenseMatrix());
}

// 49 (1 / 49) is below 1, and its floor 0: sweeps of Jets must divide as plain ones do.
TEST(GraphMovement, TakesTheSameStepsInEverySweep) {
  using Quotient = Var (*)(Var theta, Var x);
  const Quotient quotients[] = {[](Var theta, Var x) { return theta / x; },
                                [](Var theta, Var x) { return x / theta; },
                                [](Var theta, Var x) { return theta / hadamard(theta, x); }};
  for (const Quotient quotient : quotients) {
    Graph g;
    const Var theta = g.parameter(0, 1, 1);
    const Var q = quotient(theta, g.input(0, 1, 1));
    g.set_output(hadamard(elementary(Elementary::kFloor, q), square(theta)) + q);
    for (const double at : {49.0, 98.0, 103.0, 107.0}) {
      const Eigen::VectorXd point = Eigen::VectorXd::Constant(1, at);
      const SampleTable samples = SampleTable::Constant(1, 1, quotient == quotients[2] ? 1 : at);
      const Derivatives d = from_sweep(g, point, samples);
      EXPECT_NEAR(d.value, at * at + 1, 1e-11);
      EXPECT_NEAR(d.hessian(0, 0), 2, 0.01);
    }
  }
}

TEST(GraphMovement, RefusesWhatDoesNotFit) {
  Graph g;
  const Var a = g.parameter(0, 2, 3);
  const std::vector<std::int32_t> beyond = {6};
  const std::vector<std::int32_t> before = {-2};
  const std::vector<std::int32_t> two = {0, 1};
  EXPECT_THROW(gather(a, beyond, 1, 1), PreconditionError);
  EXPECT_THROW(gather(a, before, 1, 1), PreconditionError);
  EXPECT_THROW(gather(a, two, 1, 1), PreconditionError);
  EXPECT_THROW(reshape(a, 4, 2), PreconditionError);
  EXPECT_THROW(select(a, a, a), PreconditionError);  // the condition varies
  EXPECT_THROW(lookup(a, reshape(a, 6, 1)), PreconditionError);
  EXPECT_THROW(cross_entropy_rows(a, a), PreconditionError);  // the targets vary
}

// --- graphs made smaller ---

TEST(ConstantFolder, ComputesWhatDependsOnConstantsAlone) {
  Graph g;
  const Var c = g.constant(Eigen::Vector2d(0.25, -1.5));
  const Var folded_input = exp(hadamard(c, c)) / (c + g.constant(Eigen::Vector2d(2, 3)));
  ConstantFolder folder(g);
  const Var folded = folder.folded(folded_input);
  ASSERT_EQ(g.constant_value(folded).size(), 2U);
  EXPECT_DOUBLE_EQ(g.constant_value(folded)[0], std::exp(0.0625) / 2.25);
  EXPECT_DOUBLE_EQ(g.constant_value(folded)[1], std::exp(2.25) / 1.5);
  const Var a = g.parameter(0, 2, 1);
  EXPECT_FALSE(folder.is_constant(a + folded));
  EXPECT_EQ(folder.folded(a + folded).graph().nodes().back().op, Graph::Op::kAdd);
}

}  // namespace
}  // namespace hesscope::test
