// SPDX-License-Identifier: BSD-3-Clause
//
// What gradient descent does just beyond the edge of stability, on a line.
//
// On a function f(t) with f'(0) = 0 and lambda = f''(0) > 0, a = f'''(0), b = f''''(0), the step
// g(t) = t - eta f'(t) has the following derivatives at 0:
//   g' = 1 - eta lambda,   g'' = -eta a,   g''' = -eta b.
// At eta = 2 / lambda, g' = -1: the fixed point loses its stability by a flip. There the Schwarzian
// derivative of the step is
//   Sg = g''' / g' - 3/2 (g'' / g')^2 = -6 c,   c = (a / lambda)^2 - b / (3 lambda)
//      = (3 a^2 - lambda b) / (3 lambda^2),
// and c is the coefficient of the normal form y -> -(1 + alpha) y + c y^3. If c > 0, the flip is
// supercritical: beyond 2 / lambda the iterates settle on a small orbit of period two. If c < 0, it
// is subcritical: there is a small unstable orbit before 2 / lambda, and beyond it the iterates
// leave. What they do then does not follow from derivatives at 0.
//
// The orbit m + d, m - d satisfies f'(m + d) + f'(m - d) = 0 and f'(m + d) - f'(m - d) = 4 d / eta.
// To leading order m = -a d^2 / (2 lambda), and with it
//   2 / eta = lambda + a m + b d^2 / 6 = lambda (1 - c d^2 / 2),
//   d^2 = 2 (1 - 2 / (eta lambda)) / c.
//
// Worked example: along (1, 1) / sqrt 2, f = (x y - 1)^2 / 2 from x = y = 1 is t^2 + t^3 / sqrt 2 +
// t^4 / 8: lambda = 2, a = 3 sqrt 2, b = 3, so c = 9/2 - 1/2 = 4. With eta = 1.01, one hundredth
// above 2 / lambda, d is near sqrt(2 * 0.0099 / 4) = 0.070.
//
// Sources: Kuznetsov (2004), Elements of applied bifurcation theory, 3rd ed., section 4.5; Chen and
// Bruna (2023), Beyond the edge of stability via two-step gradient updates, arXiv:2206.04172.
#pragma once

#include <cmath>

namespace hesscope::detail {

/// Derivatives of f(t) at its critical point t = 0.
struct CriticalLine {
  double second = 0;  ///< lambda, positive
  double third = 0;   ///< a
  double fourth = 0;  ///< b
};

/// c: positive if the flip is supercritical. Unit: 1 / t^2.
inline double flip_coefficient(const CriticalLine& f) {
  const double ratio = f.third / f.second;
  return ratio * ratio - f.fourth / f.second / 3;
}

/// d, half the distance between the two points of the orbit, to leading order in learning_rate - 2
/// / f.second. For larger learning rates this is the stable orbit if c > 0, for smaller ones the
/// unstable orbit if c < 0. NaN if there is neither.
inline double period_two_half_width(const CriticalLine& f, double learning_rate) {
  return std::sqrt(2 * (1 - 2 / (learning_rate * f.second)) / flip_coefficient(f));
}

}  // namespace hesscope::detail
