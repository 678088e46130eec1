// SPDX-License-Identifier: BSD-3-Clause
//
// One call that checks everything hesscope says about a function's derivatives at a point:
//
//   expect_derivatives(f, x);                                  // f smooth at x
//   expect_derivatives(f, x, {.gradient = g, .hessian = H});   // and closed forms
//
// Value, gradient, Hessian and Hessian-vector products from hesscope are compared with
//   1. the closed forms, where given;
//   2. central differences of f on 50-digit numbers, good to some 20 digits;
//   3. central differences of f on doubles, whose error is predicted: the truncation is what the
//      same difference quotient shows in 50 digits, the rounding a multiple of eps |f| / h^order;
//   4. nested Ceres Jets, for n up to kLargestNested.
// All comparisons fail on NaN. What does not depend on f is compiled once (derivative_oracle.cc).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <Eigen/Core>

#include <hesscope/autodiff/derivatives.h>

#include "support/multiprecision.h"
#include "support/nested_ceres.h"
#include "support/numbers.h"

namespace hesscope::test {

inline constexpr int kLargestNested = 4;

/// A function of a vector, on one scalar.
template <typename T>
using FunctionOn = std::function<T(const Column<T>&)>;

// Relative to 1 + the largest entry of the expected value.
struct DerivativeTolerances {
  double value = 8 * kEpsilon;      // f itself is computed in the same way
  double gradient = 64 * kEpsilon;  // a few tens of operations, each with a rounding of eps / 2
  double hessian = 256 * kEpsilon;  // as above, and second derivatives cancel more
};

struct ClosedForms {
  std::optional<double> value = {};
  std::optional<Eigen::VectorXd> gradient = {};
  std::optional<Eigen::MatrixXd> hessian = {};
};

void expect_close(const Eigen::MatrixXd& actual,
                  const Eigen::MatrixXd& expected,
                  double tolerance,
                  const std::string& what);

/// Central differences with step h on scalar T, double or Real50, and the largest |f| that
/// occurred.
template <typename T>
struct CentralDifferences {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  double largest = 0.0;

  CentralDifferences(const FunctionOn<T>& f, const Eigen::VectorXd& x, const T& h);
};

/// Value, gradient and Hessian by Jet<Jet<double, N>, N>. @param x  of at most N entries.
template <int N>
ValueGradientHessian nested_ceres_derivatives(const FunctionOn<NestedCeres<N>>& f,
                                              const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size();
  Eigen::Matrix<NestedCeres<N>, Eigen::Dynamic, 1> at(n);
  for (int i = 0; i < n; ++i) at(i) = NestedCeres<N>::variable(x(i), i);
  const NestedCeres<N> y = f(at);
  ValueGradientHessian result{y.jet.a.a, Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
  for (int i = 0; i < n; ++i) {
    result.gradient(i) = y.jet.v(i).a;
    for (int j = 0; j < n; ++j) result.hessian(i, j) = y.jet.v(i).v(j);
  }
  return result;
}

/// @param x  of at most N entries.
template <int N>
void expect_equals_nested_ceres(const FunctionOn<NestedCeres<N>>& f,
                                const Eigen::VectorXd& x,
                                const ValueGradientHessian& actual,
                                const DerivativeTolerances& tolerances) {
  const ValueGradientHessian expected = nested_ceres_derivatives<N>(f, x);
  expect_close(
      actual.gradient, expected.gradient, tolerances.gradient, "gradient by nested Ceres Jets");
  expect_close(
      actual.hessian, expected.hessian, tolerances.hessian, "Hessian by nested Ceres Jets");
}

/// Everything that hesscope says about a function at a point.
struct SaidOfDerivatives {
  ValueGradientHessian all;        ///< value_gradient_hessian(f, x)
  Eigen::MatrixXd hessian;         ///< hessian(f, x)
  Eigen::VectorXd gradient;        ///< gradient(f, x)
  Eigen::MatrixXd times_identity;  ///< hessian_times(f, x, I)
  Eigen::VectorXd direction;
  Eigen::MatrixXd times_direction;  ///< hessian_times(f, x, direction)
};

/// Comparisons 1 to 3, and that all ways to ask for the same derivative agree.
void expect_derivatives(const SaidOfDerivatives& said,
                        const FunctionOn<double>& f,
                        const FunctionOn<Real50>& exact_f,
                        const Eigen::VectorXd& x,
                        const ClosedForms& closed,
                        const DerivativeTolerances& tolerances);

template <typename F>
void expect_derivatives(const F& f,
                        const Eigen::VectorXd& x,
                        const ClosedForms& closed = {},
                        const DerivativeTolerances& tolerances = {}) {
  const Eigen::VectorXd direction = Eigen::VectorXd::LinSpaced(x.size(), -1.0, 0.75);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(x.size(), x.size());
  const SaidOfDerivatives said{.all = value_gradient_hessian(f, x),
                               .hessian = hessian(f, x),
                               .gradient = gradient(f, x),
                               .times_identity = hessian_times(f, x, identity),
                               .direction = direction,
                               .times_direction = hessian_times(f, x, direction)};
  expect_derivatives(said, std::cref(f), std::cref(f), x, closed, tolerances);
  if (x.size() <= kLargestNested) {
    expect_equals_nested_ceres<kLargestNested>(std::cref(f), x, said.all, tolerances);
  }
}

}  // namespace hesscope::test
