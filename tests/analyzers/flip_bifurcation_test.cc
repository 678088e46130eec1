// SPDX-License-Identifier: BSD-3-Clause
//
// Orbits of gradient descent on functions of one number, compared with what their derivatives
// predict.
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analyzers/internal/flip_bifurcation.h>

namespace hesscope {
namespace {

using detail::CriticalLine;
using detail::flip_coefficient;
using detail::period_two_half_width;

using Slope = std::function<double(double)>;

struct Orbit {
  double middle;
  double half_width;
};

// After so many pairs of steps that what is left of the start has died out: of any deviation a pair
// leaves 1 - 4 excess or less.
Orbit orbit_of(const Slope& slope, double learning_rate, double start, double excess) {
  double t = start;
  const int num_pairs = static_cast<int>(40 / excess);
  for (int i = 0; i < 2 * num_pairs; ++i) t -= learning_rate * slope(t);
  const double next = t - learning_rate * slope(t);
  return {(t + next) / 2, std::abs(t - next) / 2};
}

struct Function {
  const char* name;
  Slope slope;
  CriticalLine at_zero;
};

void PrintTo(const Function& f, std::ostream* out) { *out << f.name; }

// t^2 lambda / 2 + t^3 a / 6 + t^4 b / 24
Function quartic(const char* name, double lambda, double a, double b) {
  return {name,
          [=](double t) { return t * (lambda + t * (a / 2 + t * b / 6)); },
          {.second = lambda, .third = a, .fourth = b}};
}

std::vector<Function> supercritical() {
  return {Function{"LogCosh", [](double t) { return std::tanh(t); }, {1, 0, -2}},
          // (1 - exp(-t))^2 / 2
          Function{"Morse", [](double t) { return std::exp(-t) * (1 - std::exp(-t)); }, {1, -3, 7}},
          // 2.5 (1 - cos(t)) has its flip at 0.8
          Function{"Cosine", [](double t) { return 2.5 * std::sin(t); }, {2.5, 0, -2.5}},
          // (x y - 1)^2 / 2 from x = y = 1 along (1, 1) / sqrt 2
          quartic("ProductOfTwo", 2, 3 * std::sqrt(2.0), 3),
          quartic("Tilted", 1, 1, 1)};
}

class SupercriticalFlip : public testing::TestWithParam<Function> {};

INSTANTIATE_TEST_SUITE_P(Functions,
                         SupercriticalFlip,
                         testing::ValuesIn(supercritical()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(SupercriticalFlip, BeyondTheEdgeDescentSettlesOnTheOrbitForetold) {
  const Function& f = GetParam();
  const double c = flip_coefficient(f.at_zero);
  EXPECT_GT(c, 0);
  const auto error = [&](double excess) {
    const double learning_rate = (2 + excess) / f.at_zero.second;
    const double expected = period_two_half_width(f.at_zero, learning_rate);
    EXPECT_NEAR(expected, std::sqrt(2 * (1 - 2 / (2 + excess)) / c), 1e-12);
    const Orbit found = orbit_of(f.slope, learning_rate, expected / 3, excess);
    EXPECT_GT(found.half_width, expected / 2);
    const double shift = -f.at_zero.third * expected * expected / (2 * f.at_zero.second);
    EXPECT_LE(std::abs(found.middle - shift), 20 * excess * std::abs(shift) + 1e-12);
    return found.half_width / expected - 1;
  };
  // The error is of the next order in the excess; for the product of two it is zero.
  const double coarse = error(4e-3);
  const double fine = error(1e-3);
  EXPECT_LE(std::abs(coarse), 0.03);
  EXPECT_LE(std::abs(fine), std::abs(coarse) / 3.8 + 1e-11) << coarse << " and " << fine;
}

TEST_P(SupercriticalFlip, BeforeTheEdgeDescentConverges) {
  const Function& f = GetParam();
  EXPECT_LE(orbit_of(f.slope, (2 - 1e-3) / f.at_zero.second, 0.01, 1e-3).half_width, 1e-9);
}

std::vector<Function> subcritical() {
  return {Function{"Cosh", [](double t) { return std::sinh(t); }, {1, 0, 1}},
          Function{"Tangent", [](double t) { return std::tan(t); }, {1, 0, 2}},
          quartic("Tilted", 1, 1, 4)};
}

class SubcriticalFlip : public testing::TestWithParam<Function> {};

INSTANTIATE_TEST_SUITE_P(Functions,
                         SubcriticalFlip,
                         testing::ValuesIn(subcritical()),
                         [](const auto& test) { return std::string(test.param.name); });

// Whether |t| reaches `far` within so many steps.
bool leaves(const Slope& slope, double learning_rate, double start, double far, int num_steps) {
  double t = start;
  for (int i = 0; i < num_steps; ++i) {
    t -= learning_rate * slope(t);
    if (!(std::abs(t) < far)) return true;
  }
  return false;
}

TEST_P(SubcriticalFlip, BeyondTheEdgeDescentLeavesWhateverItsStart) {
  const Function& f = GetParam();
  EXPECT_LT(flip_coefficient(f.at_zero), 0);
  const double learning_rate = (2 + 1e-3) / f.at_zero.second;
  EXPECT_TRUE(std::isnan(period_two_half_width(f.at_zero, learning_rate)));
  EXPECT_TRUE(leaves(f.slope, learning_rate, 1e-6, 1.2, 100'000));
}

TEST_P(SubcriticalFlip, BeforeTheEdgeTheOrbitForetoldParts) {
  const Function& f = GetParam();
  const double learning_rate = (2 - 1e-3) / f.at_zero.second;
  const double d = period_two_half_width(f.at_zero, learning_rate);
  EXPECT_GT(d, 0.01);
  const double middle = -f.at_zero.third * d * d / (2 * f.at_zero.second);
  EXPECT_FALSE(leaves(f.slope, learning_rate, middle + 0.97 * d, 1.2, 100'000));
  EXPECT_TRUE(leaves(f.slope, learning_rate, middle + 1.03 * d, 1.2, 100'000));
}

// 3 a^2 = lambda b parts the two.
TEST(FlipCoefficient, ChangesItsSignWhereTheSchwarzianDerivativeDoes) {
  EXPECT_GT(flip_coefficient({.second = 2, .third = 4, .fourth = 23.9}), 0);
  EXPECT_EQ(flip_coefficient({.second = 2, .third = 4, .fourth = 24}), 0);
  EXPECT_LT(flip_coefficient({.second = 2, .third = 4, .fourth = 24.1}), 0);
}

TEST(FlipCoefficient, DoesNotPassThroughSquares) {
  const double tiny = std::ldexp(1.0, -600);
  EXPECT_EQ(flip_coefficient({.second = 2 * tiny, .third = 3 * tiny, .fourth = 5 * tiny}),
            flip_coefficient({.second = 2, .third = 3, .fourth = 5}));
}

}  // namespace
}  // namespace hesscope
