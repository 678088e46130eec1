// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that exponentials spell out, where squares of these leave the range of double, and one
// that a quotient does.
#include <functional>
#include <memory>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>

#include "support/maxima.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

Var ones(Var x) { return x.graph().constant(Eigen::MatrixXd::Ones(x.rows(), x.cols())); }

Var one(Var x) { return x.graph().constant(Eigen::MatrixXd::Ones(1, 1)); }

struct SpelledOut {
  std::string name;
  std::function<Var(Var)> spelled;
  std::function<Var(Var)> meant;
};

void PrintTo(const SpelledOut& spelling, std::ostream* out) { *out << spelling.name; }

class Exponentials : public testing::TestWithParam<SpelledOut> {};

// The sum of the function of 3 x 4 parameters, times numbers, plus a shift.
test::Derivatives derivatives_of(const std::function<Var(Var)>& function, double shift) {
  Graph graph;
  const Var x = hadamard(graph.parameter(0, 3, 4), graph.input(0, 3, 4)) +
                graph.constant(Eigen::MatrixXd::Constant(1, 1, shift));
  graph.set_output(sum(function(x)));
  test::Numbers numbers(3);
  const Eigen::VectorXd theta = numbers.vector(12);
  return test::from_sweep(graph, theta, numbers.table(5, 12));
}

TEST_P(Exponentials, AreTheFunctionsThatTheySpellOut) {
  for (const double shift : {-650.0, -400.0, 0.0, 400.0, 650.0}) {
    const test::Derivatives expected = derivatives_of(GetParam().meant, shift);
    test::expect_near(derivatives_of(GetParam().spelled, shift), expected, 1e-13, GetParam().name);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings,
    Exponentials,
    testing::Values(
        SpelledOut{"Reciprocal", [](Var x) { return reciprocal(one(x) + exp(-x)); }, sigmoid},
        SpelledOut{"Quotient", [](Var x) { return one(x) / (exp(-1.0 * x) + ones(x)); }, sigmoid},
        SpelledOut{"QuotientOfMinus",
                   [](Var x) { return one(x) / (ones(x) + exp(x)); },
                   [](Var x) { return sigmoid(-x); }},
        SpelledOut{
            "QuotientOfExponentials", [](Var x) { return exp(x) / (one(x) + exp(x)); }, sigmoid},
        SpelledOut{"LogOfQuotient",
                   [](Var x) { return log(one(x) / (one(x) + exp(-x))); },
                   [](Var x) { return -softplus(-x); }},
        SpelledOut{"Logarithm", [](Var x) { return log(one(x) + exp(x)); }, softplus},
        SpelledOut{
            "LogarithmOfSums", [](Var x) { return log(sum_rows(exp(x))); }, log_sum_exp_rows},
        SpelledOut{"Shares",
                   [](Var x) {
                     const Var e = exp(x);
                     return square(e / sum_rows(e));
                   },
                   [](Var x) { return square(softmax_rows(x)); }},
        SpelledOut{"LogarithmOfShares",
                   [](Var x) {
                     const Var e = exp(x);
                     return square(log(e / sum_rows(e)));
                   },
                   [](Var x) { return square(x - log_sum_exp_rows(x)); }}),
    [](const auto& tested) { return tested.param.name; });

// Far out the derivatives of the quotient would be what is left of numbers that cancel.
TEST(Softsign, IsWhatItSpellsOut) {
  const auto softsign = [](Var x) { return elementary(Elementary::kSoftsign, x); };
  const std::function<Var(Var)> spellings[] = {
      [](Var x) { return x / (one(x) + abs(x)); },
      [](Var x) { return x / (abs(x) + ones(x)); },
      [](Var x) { return reshape(x, 4, 3) / (ones(reshape(x, 4, 3)) + abs(reshape(x, 4, 3))); }};
  for (const auto& spelled : spellings) {
    for (const double shift : {-1e60, -3.0, 0.0, 1e5}) {
      const test::Derivatives expected = derivatives_of(softsign, shift);
      test::expect_near(derivatives_of(spelled, shift), expected, 1e-15, "softsign");
      EXPECT_GT(test::largest_magnitude(expected.hessian), 0) << shift;
    }
  }
}

// What is not spelled out in one of these ways is not a number, rather than a wrong one.
TEST(Exponentials, OfOtherFormsHaveNoDerivativesWhereTheirSquaresAreNoDoubles) {
  const auto other = [](Var x) { return log(exp(x) + exp(-x)); };
  EXPECT_TRUE(derivatives_of(other, 4.0).hessian.allFinite());
  const test::Derivatives far = derivatives_of(other, 400.0);
  EXPECT_TRUE(far.gradient.allFinite());
  EXPECT_TRUE(far.hessian.hasNaN());
}

}  // namespace
}  // namespace hesscope
