// SPDX-License-Identifier: BSD-3-Clause
//
// Every primitive against 50 digits and nested Ceres Jets at smooth points; kinks are in
// jet_test.cc.
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/jet_functions.h>

#include "support/derivative_oracle.h"

namespace hesscope::test {
namespace {

using Jet1 = Jet<2, 1>;

// A primitive p is tested as p(u) with u = v + (x - y) + x y / 2 - y^2 / 4 at (x, y) = 0: value v
// and derivatives of both orders, so that p' and p'' both show.
template <typename P>
auto composed(const P& primitive, double v) {
  return [&primitive, v](const auto& x) {
    return primitive(v + (x(0) - x(1)) + 0.5 * x(0) * x(1) - 0.25 * x(1) * x(1));
  };
}

template <typename P>
void expect_unary(const char* name, const P& primitive, const std::vector<double>& points) {
  for (const double v : points) {
    SCOPED_TRACE(std::string(name) + " at " + std::to_string(v));
    const auto f = composed(primitive, v);
    const Eigen::Vector2d origin = Eigen::Vector2d::Zero();
    const ValueGradientHessian actual = value_gradient_hessian(f, origin);
    EXPECT_EQ(actual.value, primitive(v));  // the very same function as on doubles
    const CentralDifferences<Real50> exact(f, origin, Real50("1e-12"));
    expect_close(actual.gradient, exact.gradient, 16 * kEpsilon, "gradient in 50 digits");
    expect_close(actual.hessian, exact.hessian, 32 * kEpsilon, "Hessian in 50 digits");
    expect_equals_nested_ceres<2>(f, origin, actual, {.gradient = 1e-13, .hessian = 1e-13});
    EXPECT_EQ(gradient(f, origin), actual.gradient);  // Jets of order 1
  }
}

// Both arguments vary: p(u, w) with w = w_0 + x / 2 + y + x^2.
template <typename P>
void expect_binary(const char* name,
                   const P& primitive,
                   const std::vector<Eigen::Vector2d>& points) {
  for (const Eigen::Vector2d& at : points) {
    SCOPED_TRACE(std::string(name) + " at " + std::to_string(at(0)) + ", " + std::to_string(at(1)));
    const auto f = [&](const auto& x) {
      return primitive(at(0) + (x(0) - x(1)) + 0.5 * x(0) * x(1) - 0.25 * x(1) * x(1),
                       at(1) + 0.5 * x(0) + x(1) + x(0) * x(0));
    };
    const Eigen::Vector2d origin = Eigen::Vector2d::Zero();
    const ValueGradientHessian actual = value_gradient_hessian(f, origin);
    EXPECT_EQ(actual.value, primitive(at(0), at(1)));
    const CentralDifferences<Real50> exact(f, origin, Real50("1e-12"));
    expect_close(actual.gradient, exact.gradient, 32 * kEpsilon, "gradient in 50 digits");
    expect_close(actual.hessian, exact.hessian, 64 * kEpsilon, "Hessian in 50 digits");
    expect_equals_nested_ceres<2>(f, origin, actual, {.gradient = 1e-13, .hessian = 1e-13});
    EXPECT_EQ(gradient(f, origin), actual.gradient);
  }
}

TEST(JetFunctions, RingOperationsMatchFiftyDigits) {
  // clang-format off
  expect_binary("+", [](const auto& u, const auto& w) { return u + w; }, {{2.0, 3.0}});
  expect_binary("-", [](const auto& u, const auto& w) { return u - w; }, {{2.0, 3.0}});
  expect_binary("*", [](const auto& u, const auto& w) { return u * w; }, {{2.0, 3.0}, {0.0, 0.0}});
  expect_binary("/", [](const auto& u, const auto& w) { return u / w; }, {{2.0, 3.0}, {0.0, -0.5}});
  expect_unary("-u", [](const auto& u) { return -u; }, {1.5, 0.0});
  expect_unary("2 u", [](const auto& u) { return 2 * u; }, {1.5});
  expect_unary("u 2.5", [](const auto& u) { return u * 2.5; }, {1.5});
  expect_unary("u + 1", [](const auto& u) { return u + 1; }, {1.5});
  expect_unary("1 - u", [](const auto& u) { return 1 - u; }, {1.5});
  expect_unary("u / 3", [](const auto& u) { return u / 3; }, {1.5});
  expect_unary("3 / u", [](const auto& u) { return 3.0 / u; }, {1.5, -0.25});
  // clang-format on
}

TEST(JetFunctions, UnaryFunctionsMatchFiftyDigits) {
  // clang-format off
  expect_unary("abs", [](const auto& u) { using std::abs; return abs(u); }, {1.5, -0.75});
  expect_unary("sqrt", [](const auto& u) { using std::sqrt; return sqrt(u); }, {0.3, 2.0, 1e4});
  expect_unary("cbrt", [](const auto& u) { using std::cbrt; return cbrt(u); }, {0.3, -2.0});
  expect_unary("exp", [](const auto& u) { using std::exp; return exp(u); }, {0.0, 1.5, -30.0});
  expect_unary("exp2", [](const auto& u) { using std::exp2; return exp2(u); }, {0.0, 1.5, -3.0});
  expect_unary("expm1", [](const auto& u) { using std::expm1; return expm1(u); }, {0.0, 1e-9, -2.0});
  expect_unary("log", [](const auto& u) { using std::log; return log(u); }, {0.3, 1.0, 50.0});
  expect_unary("log2", [](const auto& u) { using std::log2; return log2(u); }, {0.3, 8.0});
  expect_unary("log10", [](const auto& u) { using std::log10; return log10(u); }, {0.3, 1000.0});
  expect_unary("log1p", [](const auto& u) { using std::log1p; return log1p(u); }, {0.0, 1e-9, -0.5});
  expect_unary("sin", [](const auto& u) { using std::sin; return sin(u); }, {0.0, 0.7, -2.0});
  expect_unary("cos", [](const auto& u) { using std::cos; return cos(u); }, {0.0, 0.7, -2.0});
  expect_unary("tan", [](const auto& u) { using std::tan; return tan(u); }, {0.0, 0.7, -1.2});
  expect_unary("asin", [](const auto& u) { using std::asin; return asin(u); }, {0.0, 0.7, -0.5});
  expect_unary("acos", [](const auto& u) { using std::acos; return acos(u); }, {0.0, 0.7, -0.5});
  expect_unary("atan", [](const auto& u) { using std::atan; return atan(u); }, {0.0, 0.7, -20.0});
  expect_unary("sinh", [](const auto& u) { using std::sinh; return sinh(u); }, {0.0, 0.7, -2.0});
  expect_unary("cosh", [](const auto& u) { using std::cosh; return cosh(u); }, {0.0, 0.7, -2.0});
  expect_unary("tanh", [](const auto& u) { using std::tanh; return tanh(u); }, {0.0, 0.7, -2.0});
  expect_unary("erf", [](const auto& u) { using std::erf; return erf(u); }, {0.0, 0.7, -2.0});
  expect_unary("erfc", [](const auto& u) { using std::erfc; return erfc(u); }, {0.0, 0.7, -2.0});
  expect_unary("pow 2.5", [](const auto& u) { using std::pow; return pow(u, 2.5); }, {0.3, 2.0});
  expect_unary("pow 3", [](const auto& u) { using std::pow; return pow(u, 3); }, {0.3, -2.0});
  expect_unary("pow -2", [](const auto& u) { using std::pow; return pow(u, -2); }, {0.3, -2.0});
  expect_unary("2.5 pow", [](const auto& u) { using std::pow; return pow(2.5, u); }, {0.0, -1.2});
  // clang-format on
}

TEST(JetFunctions, BinaryFunctionsMatchFiftyDigits) {
  // clang-format off
  expect_binary("pow", [](const auto& u, const auto& w) { using std::pow; return pow(u, w); }, {{2.0, 3.0}, {0.3, -1.5}, {1.7, 0.0}});
  expect_binary("hypot", [](const auto& u, const auto& w) { using std::hypot; return hypot(u, w); }, {{2.0, 3.0}, {0.0, -1.5}});
  expect_binary("atan2", [](const auto& u, const auto& w) { using std::atan2; return atan2(u, w); }, {{2.0, 3.0}, {-0.3, -1.5}, {1.0, 0.0}});
  expect_binary("fmax", [](const auto& u, const auto& w) { using std::fmax; return fmax(u, w); }, {{2.0, 3.0}, {0.3, -1.5}});
  expect_binary("fmin", [](const auto& u, const auto& w) { using std::fmin; return fmin(u, w); }, {{2.0, 3.0}, {0.3, -1.5}});
  // clang-format on
}

// tanh' = 1 - tanh^2 and similar identities lose all digits far out; these must not.
TEST(JetFunctions, KeepsRelativeAccuracyInTheTails) {
  for (const double v : {5.0, 12.0, 20.0, 300.0}) {
    const Real50 e = exp(Real50(-2 * v));
    const double slope = static_cast<double>(4 * e / ((1 + e) * (1 + e)));
    EXPECT_TRUE(std::abs(tanh(Jet1::variable(v, 0)).gradient[0] - slope) <= 8 * kEpsilon * slope)
        << v;
  }
  const double near_one = 1.0 - std::ldexp(1.0, -40);
  const double slope = static_cast<double>(1 / sqrt(1 - Real50(near_one) * near_one));
  EXPECT_TRUE(std::abs(asin(Jet1::variable(near_one, 0)).gradient[0] - slope) <=
              8 * kEpsilon * slope);
}

}  // namespace
}  // namespace hesscope::test
