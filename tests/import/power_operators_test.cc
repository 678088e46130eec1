// SPDX-License-Identifier: BSD-3-Clause
//
// Powers whose exponents are no constants: of negative numbers and of 0.
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/constants.h>

#include "import/data_indices.h"
#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using test::add_indices;
using test::expect_computes;
using test::index_at;
using test::OperatorFixture;

// Random bases in (-1, 1), half of them negative, to the powers 0 to 4.
TEST(Pow, TakesWholeExponentsFromDataOfNegativeNumbers) {
  OperatorFixture op("Pow");
  op.parameter({8});
  add_indices(op, {8}, 5);
  expect_computes(op, op.result(), [](const auto& theta, const double* record) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> entries;
    for (Eigen::Index e = 0; e < 8; ++e) {
      T power(1.0);
      for (Eigen::Index k = 0; k < index_at(record[e], 5); ++k) power *= theta(e);
      entries.push_back(power);
    }
    return entries;
  });
}

TEST(Pow, TakesManyConstantExponents) {
  const std::vector<double> numbers = {-2, 0, 3, -1, 0.5};
  std::vector<double> bases;
  std::vector<double> exponents;
  for (int k = 0; k < 100; ++k) {
    for (const double base : numbers) {
      bases.push_back(base);
      exponents.push_back(k < 50 ? k - 5 : 0.25 * k);
    }
  }
  const auto size = static_cast<std::int64_t>(bases.size());
  OperatorFixture op("Pow");
  const onnx::Value y = op.numbers({size}, bases).numbers({size}, exponents).result();
  const auto entries = op.graph().constant_value(*y.var);
  ASSERT_EQ(entries.size(), bases.size());
  for (std::size_t e = 0; e < bases.size(); ++e) {
    const double expected = std::pow(bases[e], exponents[e]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(entries[e])) << bases[e] << "^" << exponents[e];
    } else if (std::isinf(expected)) {
      EXPECT_EQ(entries[e], expected) << bases[e] << "^" << exponents[e];
    } else {
      EXPECT_NEAR(entries[e], expected, 1e-13 * std::abs(expected))
          << bases[e] << "^" << exponents[e];
    }
  }
}

// The gradient and the diagonal of the Hessian of the sum of a power's entries.
struct Slopes {
  std::vector<double> first;
  std::vector<double> second;
};

Slopes slopes_of(OperatorFixture& op,
                 const std::vector<double>& theta,
                 const std::vector<double>& record) {
  Graph& g = op.graph();
  const Var y = *op.result().var;
  g.set_output(sum(y));
  const std::size_t n = theta.size();
  const Records records{.data = record.data(), .count = 1};
  const auto sweep = Sweep::create(g);
  Slopes slopes{.first = std::vector<double>(n), .second = {}};
  sweep->value_and_gradient(theta, records, slopes.first);
  std::vector<double> hessian(n * n);
  sweep->hessian_columns(theta, records, 0, static_cast<int>(n), hessian);
  for (std::size_t i = 0; i < n; ++i) slopes.second.push_back(hessian[i * n + i]);
  return slopes;
}

// Powers of 0 with exponents from the record: slopes are 0, infinite, or those of a product.
TEST(Pow, HasTheSlopesOfItsExponentAtZero) {
  const std::vector<double> exponents = {0, 0.5, 1, 1.5, 2, 2.25, 3, 7};
  OperatorFixture op("Pow");
  op.parameter({8}).data({8});
  const Slopes slopes = slopes_of(op, std::vector<double>(8, 0.0), exponents);
  const std::vector<double> first = {0, kInfinity, 1, 0, 0, 0, 0, 0};
  const std::vector<double> second = {0, kInfinity, 0, kInfinity, 2, 0, 0, 0};
  const auto expect_slope = [](double slope, double expected, double exponent) {
    if (std::isfinite(expected)) {
      EXPECT_EQ(slope, expected) << exponent;
    } else {
      EXPECT_FALSE(std::isfinite(slope)) << exponent;
    }
  };
  for (std::size_t e = 0; e < exponents.size(); ++e) {
    expect_slope(slopes.first[e], first[e], exponents[e]);
    expect_slope(slopes.second[e], second[e], exponents[e]);
  }
}

// sum x^p of ReLU's x = (0, 0, 2): by p it is 2^p log 2.
TEST(Pow, TakesALearnedExponentOfZero) {
  for (const double exponent : {1.0, 1.5, 2.0, 2.5}) {
    OperatorFixture op("Pow");
    Graph& g = op.graph();
    op.value({.axes = {onnx::kBatchAxis, {.size = 3}}, .var = relu(g.input(0, 3, 1))});
    op.parameter({});
    const Slopes slopes = slopes_of(op, {exponent}, {-1, 0, 2});
    const double power = std::pow(2.0, exponent);
    EXPECT_NEAR(slopes.first[0], power * std::log(2.0), 1e-14);
    EXPECT_NEAR(slopes.second[0], power * std::log(2.0) * std::log(2.0), 1e-14);
  }
}

// By its exponent, a power of a negative number has no derivative.
TEST(Pow, MakesNoNumberOfALearnedExponentOfNegativeNumbers) {
  OperatorFixture op("Pow");
  op.data({1}).parameter({});
  EXPECT_TRUE(std::isnan(slopes_of(op, {2}, {-2}).first[0]));
}

// A generalised mean's powers are three operations.
TEST(Pow, OfWhatIsCutOffAboveZeroIsShort) {
  OperatorFixture op("Pow");
  Graph& g = op.graph();
  const Var x = elementary(Elementary::kClip, g.input(0, 3, 1), 1e-6, kInfinity);
  op.value({.axes = {onnx::kBatchAxis, {.size = 3}}, .var = x}).parameter({});
  const std::size_t before = g.nodes().size();
  const Slopes slopes = slopes_of(op, {2}, {-1, 0.5, 2});
  EXPECT_LT(g.nodes().size() - before, 10);
  EXPECT_NEAR(
      slopes.first[0], 1e-12 * std::log(1e-6) + 0.25 * std::log(0.5) + 4 * std::log(2.0), 1e-14);
}

}  // namespace
}  // namespace hesscope
