// SPDX-License-Identifier: BSD-3-Clause
//
// Landscapes whose minimum-energy paths, or minima and saddles, are known.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/functor_objective.h>

namespace hesscope::test {

/// k (r - 1)^2 - h cos(3 phi) in the plane, k = 4, h = 0.5. The circle r = 1 is made of gradient
/// lines: three minima, loss -h, at phi = 0 and +-120 degrees; three saddles, loss h, half way
/// between them, with the Hessian diag(2 k, -9 h) by the radius and the circle. So the
/// minimum-energy path from (1, 0) to (-1/2, sqrt(3)/2) is the arc of 2 pi / 3, with the loss -h
/// cos(3 s) at arc length s.
struct ThreeWells {
  static constexpr double kStiffness = 4;
  static constexpr double kHeight = 0.5;

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::sqrt;
    const T square = x(0) * x(0) + x(1) * x(1);
    const T radius = sqrt(square);
    const T cosine = (x(0) * x(0) * x(0) - 3.0 * x(0) * x(1) * x(1)) / (square * radius);
    return kStiffness * (radius - 1.0) * (radius - 1.0) - kHeight * cosine;
  }
};

inline auto three_wells() { return make_objective(ThreeWells(), 2, 1); }

inline Eigen::Vector2d well(int i) {
  const double angle = 2 * std::numbers::pi / 3 * i;
  return {std::cos(angle), std::sin(angle)};
}

/// K. Mueller & L. Brown (1979), Theoretica Chimica Acta 53, 75-93: the potential on which searches
/// for minimum-energy paths are compared. Its stationary points, to the digits that are commonly
/// printed:
///   minima (-0.558, 1.442), (-0.050, 0.467), (0.623, 0.028); energies -146.700, -80.768, -108.167
///   saddles (-0.822, 0.624), (0.212, 0.293); energies -40.665, -72.249
struct MuellerBrown {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::exp;
    constexpr double kA[] = {-200, -100, -170, 15};
    constexpr double ka[] = {-1, -1, -6.5, 0.7};
    constexpr double kb[] = {0, 0, 11, 0.6};
    constexpr double kc[] = {-10, -10, -6.5, 0.7};
    constexpr double kx[] = {1, 0, -0.5, -1};
    constexpr double ky[] = {0, 0.5, 1.5, 1};
    T sum = T(0.0);
    for (int i = 0; i < 4; ++i) {
      const T dx = x(0) - kx[i];
      const T dy = x(1) - ky[i];
      sum = sum + kA[i] * exp(ka[i] * dx * dx + kb[i] * dx * dy + kc[i] * dy * dy);
    }
    return sum;
  }
};

inline auto mueller_brown() { return make_objective(MuellerBrown(), 2, 1); }

}  // namespace hesscope::test
