// SPDX-License-Identifier: BSD-3-Clause
//
// Every elementary function, with what it is to be compared with.
#pragma once

#include <functional>
#include <limits>
#include <ostream>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/constants.h>

#include "support/multiprecision.h"

namespace hesscope::test {

/// A function, and what it is in 50 digits.
struct ElementaryCase {
  const char* name;
  Elementary function;
  std::function<Real50(const Real50&)> definition;
  std::vector<double> smooth_points;
  double absolute = 0;  ///< error in multiples of eps that is allowed besides the relative one
  double alpha = 1;
  double beta = 0;
  double at_infinity = std::numeric_limits<double>::infinity();  ///< the limit; NaN where none
};

inline void PrintTo(const ElementaryCase& c, std::ostream* out) { *out << c.name; }

inline std::vector<ElementaryCase> elementary_cases() {
  const std::vector<double> both_sides = {-30, -5.5, -1, -1e-3, -1e-9, 1e-9, 1e-3, 0.7, 2, 8, 30};
  std::vector<double> with_zero = both_sides;
  with_zero.push_back(0);
  const std::vector<double> inside = {-0.99, -0.5, -1e-9, 0, 1e-3, 0.7, 0.999};
  const std::vector<double> positive = {0.01, 0.5, 1, 2, 30, 1e6};
  // Where differences of width 1e-10 are good to all digits of a double, relative to what they are
  // of.
  const std::vector<double> away_from_zero = {-30, -1, -0.1, 0.7, 8};
  return {
      {"Abs", Elementary::kAbs, [](const Real50& x) { return abs(x); }, both_sides},
      {"Exp", Elementary::kExp, [](const Real50& x) { return exp(x); }, with_zero},
      {"Gelu",
       Elementary::kGelu,
       [](const Real50& x) { return Real50(x * erfc(-x / sqrt(Real50(2))) / 2); },
       with_zero},
      {.name = "ScaledGelu",
       .function = Elementary::kGelu,
       .definition =
           [](const Real50& x) { return Real50(x * erfc(-x * 5 / 8 / sqrt(Real50(2))) / 2); },
       .smooth_points = with_zero,
       .alpha = 0.625},
      {"Relu",
       Elementary::kRelu,
       [](const Real50& x) { return x > 0 ? x : Real50(0); },
       both_sides},
      {"Softplus",
       Elementary::kSoftplus,
       [](const Real50& x) { return Real50(log1p(exp(x))); },
       with_zero},
      {"Sqrt", Elementary::kSqrt, [](const Real50& x) { return sqrt(x); }, {0.01, 0.5, 1, 2, 1e6}},
      {"Square", Elementary::kSquare, [](const Real50& x) { return Real50(x * x); }, with_zero},
      // 1 - tanh^2 is known to eps, not to eps of itself.
      {.name = "Tanh",
       .function = Elementary::kTanh,
       .definition = [](const Real50& x) { return tanh(x); },
       .smooth_points = with_zero,
       .absolute = 4,
       .at_infinity = 1},
      {.name = "Acos",
       .function = Elementary::kAcos,
       .definition = [](const Real50& x) { return acos(x); },
       .smooth_points = inside,
       .at_infinity = kNaN},
      {"Acosh", Elementary::kAcosh, [](const Real50& x) { return acosh(x); }, {1.001, 1.5, 3, 30}},
      {.name = "Asin",
       .function = Elementary::kAsin,
       .definition = [](const Real50& x) { return asin(x); },
       .smooth_points = inside,
       .at_infinity = kNaN},
      // Its third derivative changes sign near 0.7.
      {.name = "Asinh",
       .function = Elementary::kAsinh,
       .definition = [](const Real50& x) { return asinh(x); },
       .smooth_points = with_zero,
       .absolute = 4},
      {.name = "Atan",
       .function = Elementary::kAtan,
       .definition = [](const Real50& x) { return atan(x); },
       .smooth_points = with_zero,
       .at_infinity = std::atan(kInfinity)},
      {.name = "Atanh",
       .function = Elementary::kAtanh,
       .definition = [](const Real50& x) { return atanh(x); },
       .smooth_points = {-0.9, -0.5, -1e-9, 0, 1e-3, 0.7, 0.9},
       .at_infinity = kNaN},
      {.name = "Clip",
       .function = Elementary::kClip,
       .definition = [](const Real50& x) { return x < -2  ? Real50(-2)
                                                  : x > 5 ? Real50(5)
                                                          : x; },
       .smooth_points = {-30, -2.5, -1.5, 0, 4.5, 5.5},
       .alpha = -2,
       .beta = 5,
       .at_infinity = 5},
      // Near their zeros, functions of period 2 pi are known to the rounding of their argument.
      {.name = "Cos",
       .function = Elementary::kCos,
       .definition = [](const Real50& x) { return cos(x); },
       .smooth_points = with_zero,
       .absolute = 4,
       .at_infinity = kNaN},
      {"Cosh", Elementary::kCosh, [](const Real50& x) { return cosh(x); }, with_zero},
      {.name = "Elu",
       .function = Elementary::kElu,
       .definition = [](const Real50& x) { return x > 0 ? x : Real50(expm1(x / 2) * 3 / 2); },
       .smooth_points = both_sides,
       .alpha = 1.5,
       .beta = 2},
      {.name = "Erf",
       .function = Elementary::kErf,
       .definition = [](const Real50& x) { return Real50(erf(x)); },
       .smooth_points = {-5.5, -1, -1e-9, 0, 1e-3, 0.7, 2},
       .at_infinity = 1},
      {.name = "LeakyRelu",
       .function = Elementary::kLeakyRelu,
       .definition = [](const Real50& x) { return x > 0 ? x : Real50(x / 4); },
       .smooth_points = both_sides,
       .alpha = 0.25},
      {"Log", Elementary::kLog, [](const Real50& x) { return log(x); }, positive},
      {.name = "PowerOfThreeHalves",
       .function = Elementary::kPower,
       .definition = [](const Real50& x) { return pow(x, Real50(1.5)); },
       .smooth_points = positive,
       .alpha = 1.5},
      {.name = "Cube",
       .function = Elementary::kPower,
       .definition = [](const Real50& x) { return Real50(x * x * x); },
       .smooth_points = away_from_zero,
       .alpha = 3},
      {.name = "FourthPower",
       .function = Elementary::kPower,
       .definition = [](const Real50& x) { return Real50(x * x * x * x); },
       .smooth_points = away_from_zero,
       .alpha = 4},
      {.name = "InverseSquare",
       .function = Elementary::kPower,
       .definition = [](const Real50& x) { return Real50(1 / (x * x)); },
       .smooth_points = away_from_zero,
       .alpha = -2,
       .at_infinity = 0},
      {.name = "Reciprocal",
       .function = Elementary::kReciprocal,
       .definition = [](const Real50& x) { return Real50(1 / x); },
       .smooth_points = away_from_zero,
       .at_infinity = 0},
      {.name = "Sigmoid",
       .function = Elementary::kSigmoid,
       .definition = [](const Real50& x) { return Real50(1 / (1 + exp(-x))); },
       .smooth_points = with_zero,
       .at_infinity = 1},
      {.name = "Sin",
       .function = Elementary::kSin,
       .definition = [](const Real50& x) { return sin(x); },
       .smooth_points = with_zero,
       .absolute = 4,
       .at_infinity = kNaN},
      {"Sinh", Elementary::kSinh, [](const Real50& x) { return sinh(x); }, with_zero},
      {.name = "Softsign",
       .function = Elementary::kSoftsign,
       .definition = [](const Real50& x) { return Real50(x / (1 + abs(x))); },
       .smooth_points = both_sides,
       .at_infinity = kNaN},
      {.name = "Tan",
       .function = Elementary::kTan,
       .definition = [](const Real50& x) { return tan(x); },
       .smooth_points = {-1.5, -0.3, -1e-9, 0, 1e-3, 0.7, 2},
       .absolute = 4,
       .at_infinity = kNaN},
  };
}

}  // namespace hesscope::test
