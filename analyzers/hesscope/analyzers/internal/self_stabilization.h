// SPDX-License-Identifier: BSD-3-Clause
//
// What gradient descent does at the edge of stability, according to theory.
//
// One eigenvalue lambda of the Hessian, with the unit eigenvector u, is near 2 / eta. Descent
// oscillates along u about a centre, with the offset x. With p = P d lambda / d theta, where P
// removes u, and
//   alpha = -p . grad L at the centre,   beta = |p|^2,   y = lambda at the centre - 2 / eta,
// a step is to leading order
//   x' = -(1 + eta y) x,   y' = y + eta (alpha - beta x^2 / 2):
// averaged over x, the loss is L + x^2 lambda / 2, so its descent moves lambda by -eta p . (grad L
// + x^2 p / 2). The sharpness stays if x^2 has the mean
//   sigma^2 = 2 alpha / beta.
// This agrees with the central flow d theta / dt = -grad L - sigma^2 / 2 d lambda / d theta with d
// lambda / dt = 0 (Cohen et al. 2024, one unstable eigenvalue; there without P, to the same order),
// and with the cycles of Damian et al. (2023). For these, with X = |x| / sigma, Y = y / sqrt(alpha)
// and the time tau = eta sqrt(alpha) t,
//   dX / dtau = X Y,   dY / dtau = 1 - X^2,
// which leaves h = X^2 - log X^2 - 1 + Y^2 constant (its derivative is 2 X^2 Y - 2 Y + 2 Y (1 -
// X^2) = 0). Over a cycle, X^2 has the mean 1 for any h. lambda is furthest from 2 / eta where X =
// 1: |y| = sqrt(alpha h). Near X = 1, Y = 0, a cycle takes tau = sqrt(2) pi.
//
// Worked example: L = (s + b y) x^2 / 2 - a y at x = 0 has lambda = s + b y, p = (0, b), alpha = a
// b, beta = b^2 and sigma^2 = 2 a / b. At x^2 = sigma^2, the gradient by y, b x^2 / 2 - a, is zero.
//
// Sources: Damian, Nichani & Lee (2023), Self-stabilization, arXiv:2209.15594, section 4; Cohen et
// al. (2024), Understanding optimization in deep learning with central flows, arXiv:2410.24206,
// section 3.
#pragma once

#include <cmath>
#include <numbers>

namespace hesscope::detail {

/// Where the state is on a cycle of self-stabilisation.
struct CyclePoint {
  double sharpening = 0;      ///< alpha, positive
  double variance = 0;        ///< sigma^2, positive
  double squared_offset = 0;  ///< x^2
  double gap = 0;             ///< y, or 2 / eta - lambda
};

/// h: 0 at the fixed point, infinite if x = 0. No unit.
inline double cycle_energy(const CyclePoint& at) {
  const double square = at.squared_offset / at.variance;
  const double gap = at.gap / std::sqrt(at.sharpening);
  return square - std::log(square) - 1 + gap * gap;
}

/// The largest |lambda - 2 / eta| on the cycle with this energy.
inline double cycle_gap(double sharpening, double energy) {
  return std::sqrt(sharpening) * std::sqrt(energy);
}

/// The number of steps of a small cycle.
inline double cycle_period(double sharpening, double learning_rate) {
  return std::numbers::sqrt2 * std::numbers::pi / (learning_rate * std::sqrt(sharpening));
}

}  // namespace hesscope::detail
