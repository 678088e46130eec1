// SPDX-License-Identifier: BSD-3-Clause
//
// Every primitive against 50 digits and nested Ceres Jets at smooth points; kinks are in
// jet_test.cc.
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <Eigen/Core>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>

#include "support/derivative_oracle.h"

namespace hesscope::test {
namespace {

using Jet1 = Jet<2, 1>;

template <typename T>
using Unary = std::function<T(const T&)>;

template <typename T>
using Binary = std::function<T(const T&, const T&)>;

// A primitive on each of the scalars; the checks are compiled once for all primitives.
template <template <typename> typename Function, typename... Scalars>
class Primitive {
 public:
  template <typename P>
  Primitive(const P& primitive) : on_(Function<Scalars>(primitive)...) {}  // NOLINT: any lambda

  template <typename T, typename... More>
  T operator()(const T& u, const More&... more) const {
    return std::get<Function<T>>(on_)(u, more...);
  }

 private:
  std::tuple<Function<Scalars>...> on_;
};

// On what hesscope's derivatives of two variables take, and on those of an oracle.
template <template <typename> typename Function, typename... Oracle>
using PrimitiveOn = Primitive<Function, double, Jet<2, 2>, Jet<1, 2>, RecordedJet, Oracle...>;

using Ceres = NestedCeres<2>;

const Eigen::Vector2d kOrigin = Eigen::Vector2d::Zero();

// A primitive p is tested as p(u) with u = v + (x - y) + x y / 2 - y^2 / 4 at (x, y) = 0: value v
// and derivatives of both orders, so that p' and p'' both show.
template <typename P>
auto composed(const P& primitive, double v) {
  return [&primitive, v](const auto& x) {
    return primitive(v + (x(0) - x(1)) + 0.5 * x(0) * x(1) - 0.25 * x(1) * x(1));
  };
}

// Both arguments vary: p(u, w) with w = w_0 + x / 2 + y + x^2.
template <typename P>
auto composed(const P& primitive, const Eigen::Vector2d& at) {
  return [&primitive, at](const auto& x) {
    return primitive(at(0) + (x(0) - x(1)) + 0.5 * x(0) * x(1) - 0.25 * x(1) * x(1),
                     at(1) + 0.5 * x(0) + x(1) + x(0) * x(0));
  };
}

// In units of eps.
struct Roundings {
  double gradient;
  double hessian;
};

// All ways to f's derivatives say the same, and what 50 digits say. @param value  f's, by doubles.
template <typename F>
void expect_exact(const F& f,
                  const FunctionOn<Real50>& exact_f,
                  double value,
                  const Roundings& roundings) {
  const ValueGradientHessian actual = value_gradient_hessian(f, kOrigin);
  EXPECT_EQ(actual.value, value);  // the very same function as on doubles
  const CentralDifferences<Real50> exact(exact_f, kOrigin, Real50("1e-12"));
  expect_close(
      actual.gradient, exact.gradient, roundings.gradient * kEpsilon, "gradient in 50 digits");
  expect_close(actual.hessian, exact.hessian, roundings.hessian * kEpsilon, "Hessian in 50 digits");
  EXPECT_EQ(gradient(f, kOrigin), actual.gradient);  // Jets of order 1

  // The Jet that records, as functions of many variables get it.
  detail::JetTape tape(2);
  const RecordedJet y = detail::record(f, kOrigin, tape);
  Eigen::VectorXd recorded_gradient(2);
  Eigen::MatrixXd recorded_hessian(2, 2);
  EXPECT_EQ(y.value, actual.value);
  ASSERT_TRUE(tape.differentiate(y.step(), recorded_gradient.data(), recorded_hessian.data()));
  expect_close(recorded_gradient, actual.gradient, 4 * kEpsilon, "recorded gradient");
  expect_close(recorded_hessian, actual.hessian, 8 * kEpsilon, "recorded Hessian");
}

template <typename F>
void expect_equals_ceres(const F& f) {
  expect_equals_nested_ceres<2>(
      f, kOrigin, value_gradient_hessian(f, kOrigin), {.gradient = 1e-13, .hessian = 1e-13});
}

std::string where(const char* name, double v) {
  return std::string(name) + " at " + std::to_string(v);
}

std::string where(const char* name, const Eigen::Vector2d& at) {
  return where(name, at(0)) + ", " + std::to_string(at(1));
}

void expect_fifty_digits(const char* name,
                         const PrimitiveOn<Unary, Real50>& primitive,
                         const std::vector<double>& points) {
  for (const double v : points) {
    SCOPED_TRACE(where(name, v));
    const auto f = composed(primitive, v);
    expect_exact(f, f, primitive(v), {.gradient = 16, .hessian = 32});
  }
}

void expect_unary(const char* name,
                  const PrimitiveOn<Unary, Real50, Ceres>& primitive,
                  const std::vector<double>& points) {
  for (const double v : points) {
    SCOPED_TRACE(where(name, v));
    const auto f = composed(primitive, v);
    expect_exact(f, f, primitive(v), {.gradient = 16, .hessian = 32});
    expect_equals_ceres(f);
  }
}

void expect_binary(const char* name,
                   const PrimitiveOn<Binary, Real50, Ceres>& primitive,
                   const std::vector<Eigen::Vector2d>& points) {
  for (const Eigen::Vector2d& at : points) {
    SCOPED_TRACE(where(name, at));
    const auto f = composed(primitive, at);
    expect_exact(f, f, primitive(at(0), at(1)), {.gradient = 32, .hessian = 64});
    expect_equals_ceres(f);
  }
}

// The same for functions that Ceres does not have, or not in 50 digits: `exact` replaces it.
void expect_branch(const char* name,
                   const PrimitiveOn<Binary>& primitive,
                   const Binary<Real50>& exact,
                   const std::vector<Eigen::Vector2d>& points) {
  for (const Eigen::Vector2d& at : points) {
    SCOPED_TRACE(where(name, at));
    expect_exact(composed(primitive, at),
                 composed(exact, at),
                 primitive(at(0), at(1)),
                 {.gradient = 32, .hessian = 64});
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

TEST(JetFunctions, FunctionsThatCeresHasNotMatchFiftyDigits) {
  // clang-format off
  expect_fifty_digits("asinh", [](const auto& u) { using std::asinh; return asinh(u); }, {0.0, 0.7, -3.0, 1e3});
  expect_fifty_digits("acosh", [](const auto& u) { using std::acosh; return acosh(u); }, {1.25, 3.0, 1e3});
  expect_fifty_digits("atanh", [](const auto& u) { using std::atanh; return atanh(u); }, {0.0, 0.7, -0.9});
  expect_fifty_digits("lgamma", [](const auto& u) { using std::lgamma; return lgamma(u); }, {0.1, 1.0, 1.4616321449683623, 2.0, 3.5, 40.0, -0.5, -2.25});
  expect_fifty_digits("tgamma", [](const auto& u) { using std::tgamma; return tgamma(u); }, {0.25, 1.0, 1.4616321449683623, 3.5, 10.0, -0.5, -2.25});
  // clang-format on
}

TEST(JetFunctions, FunctionsByBranchesMatchFiftyDigits) {
  // clang-format off
  expect_branch("hypot of 3",
                [](const auto& u, const auto& w) { using std::hypot; return hypot(u, w, 0.75); },
                [](const auto& u, const auto& w) { return sqrt(u * u + w * w + 0.5625); },
                {{2.0, 3.0}, {0.0, -1.5}, {0.0, 0.0}});
  expect_branch("hypot of 3, the first a number",
                [](const auto& u, const auto& w) { using std::hypot; return hypot(-2, w, u); },
                [](const auto& u, const auto& w) { return sqrt(u * u + w * w + 4); },
                {{2.0, 3.0}, {0.5, -1.5}});
  expect_branch("fma",
                [](const auto& u, const auto& w) { using std::fma; return fma(u, w, 2 * u) + fma(3.0, u, w) + fma(u, 2, 1); },
                [](const auto& u, const auto& w) { return u * w + 2 * u + 3 * u + w + 2 * u + 1; },
                {{2.0, 3.0}, {0.0, -1.5}});
  expect_branch("lerp",
                [](const auto& u, const auto& w) { using std::lerp; return lerp(u, w, 2 * u) + lerp(3.0, u, w) + lerp(u, 2, 1); },
                [](const auto& u, const auto& w) { return u + 2 * u * (w - u) + 3 + w * (u - 3) + 2; },
                {{2.0, 3.0}, {0.0, -1.5}});
  expect_branch("fdim",
                [](const auto& u, const auto& w) { using std::fdim; return fdim(u, w) + fdim(u, 1.0) + fdim(9.0, w); },
                [](const auto& u, const auto& w) { return (u > w ? Real50(u - w) : Real50(0)) + (u > 1 ? Real50(u - 1) : Real50(0)) + (9 - w); },
                {{2.0, 3.0}, {0.3, -1.5}});
  expect_branch("copysign",
                [](const auto& u, const auto& w) { using std::copysign; return copysign(u, w) + copysign(w, -1.0) + copysign(2.0, u); },
                [](const auto& u, const auto& w) { return (w < 0 ? -abs(u) : abs(u)) - abs(w) + (u < 0 ? -2 : 2); },
                {{2.0, 3.0}, {-0.3, -1.5}, {0.3, -1.5}});
  expect_branch("fmod",
                [](const auto& u, const auto& w) { using std::fmod; return fmod(u, w) + fmod(7.5, w) + fmod(u, 0.75); },
                [](const auto& u, const auto& w) { return u - trunc(u / w) * w + 7.5 - trunc(7.5 / w) * w + u - trunc(u / 0.75) * 0.75; },
                {{8.0, 3.0}, {-8.0, 3.0}, {8.0, -1.375}});
  expect_branch("remainder",
                [](const auto& u, const auto& w) { using std::remainder; return remainder(u, w) + remainder(7.25, w) + remainder(u, 0.75); },
                [](const auto& u, const auto& w) { return u - round(u / w) * w + 7.25 - round(7.25 / w) * w + u - round(u / 0.75) * 0.75; },
                {{8.0, 3.0}, {-8.0, 3.0}, {8.0, -1.375}});
  // clang-format on
}

// digamma and trigamma to units in the last place over the whole range, near the root of digamma
// too, where gradients vanish.
TEST(JetFunctions, DerivativesOfLgammaAreExactInRelativeTerms) {
  std::vector<double> points = {1e-300,
                                1e-8,
                                0.1,
                                1.0,
                                1.4616321449683623,
                                1.4616321449683625,
                                1.46163,
                                1.5,
                                2.0,
                                10.0,
                                1e5,
                                1e15,
                                1e300,
                                -0.5,
                                -1.25,
                                -20.75};
  for (const double v : points) {
    const Jet1 y = lgamma(Jet1::variable(v, 0));
    // Boost's digamma of many digits is wrong in (-1, 0); digamma(v) = digamma(v + 1) - 1 / v.
    const bool is_shifted = -1 < v && v < 0;
    const Real50 digamma = boost::math::digamma(is_shifted ? Real50(v) + 1 : Real50(v));
    const double first =
        static_cast<double>(is_shifted ? Real50(digamma - 1 / Real50(v)) : digamma);
    const double second = static_cast<double>(boost::math::trigamma(Real50(v)));
    EXPECT_TRUE(std::abs(y.gradient[0] - first) <= 4 * kEpsilon * std::abs(first))
        << v << ": " << y.gradient[0] << ", expected " << first;
    EXPECT_TRUE(y.hessian[0] == second ||
                std::abs(y.hessian[0] - second) <= 4 * kEpsilon * std::abs(second))
        << v << ": " << y.hessian[0] << ", expected " << second;
  }
}

// Squares that over- and underflow are avoided.
TEST(JetFunctions, InverseHyperbolicFunctionsHoldAtLargeArguments) {
  for (const double v : {1e10, 1e150, 1e300}) {
    for (const Jet1& y : {asinh(Jet1::variable(v, 0)), acosh(Jet1::variable(v, 0))}) {
      EXPECT_NEAR(y.gradient[0] * v, 1.0, 1e-15);
      if (v < 1e200) {  // beyond it underflows
        EXPECT_NEAR(y.hessian[0] * v * v, -1.0, 2e-15);
      }
    }
    EXPECT_NEAR(asinh(Jet1::variable(-v, 0)).gradient[0] * v, 1.0, 1e-15);
  }
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
