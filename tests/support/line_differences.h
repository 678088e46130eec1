// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of a function of one number, without any derivative rule.
#pragma once

#include <array>

#include <Eigen/Core>

#include "support/multiprecision.h"

namespace hesscope::test {

/// f and its first four derivatives at 0, by central differences over f(-3 h) ... f(3 h): their
/// error is of fourth order in h (sixth in the first two), plus 1e-50 / h^4 of |f|.
template <typename F>
std::array<Real50, 5> differences_along_a_line(const F& f, const Real50& h) {
  std::array<Real50, 4> even;  // f(j h) + f(-j h)
  std::array<Real50, 4> odd;   // f(j h) - f(-j h)
  const Real50 middle = f(Real50(0));
  for (int j = 1; j <= 3; ++j) {
    const Real50 above = f(Real50(j * h));
    const Real50 below = f(Real50(-j * h));
    even[static_cast<std::size_t>(j)] = above + below;
    odd[static_cast<std::size_t>(j)] = above - below;
  }
  return {middle,
          Real50((45 * odd[1] - 9 * odd[2] + odd[3]) / (60 * h)),
          Real50((270 * even[1] - 27 * even[2] + 2 * even[3] - 490 * middle) / (180 * h * h)),
          Real50((8 * odd[2] - 13 * odd[1] - odd[3]) / (8 * h * h * h)),
          Real50((12 * even[2] - 39 * even[1] - even[3] + 56 * middle) / (6 * h * h * h * h))};
}

/// The same for f(k, t) and each of `num_lines` lines k, orders 0 to 4 in a column, good to some 16
/// digits where f is smooth within 1e-7 of 0.
template <typename F>
Eigen::MatrixXd differences_along_lines(Eigen::Index num_lines, const F& f) {
  Eigen::MatrixXd result(5, num_lines);
  for (Eigen::Index k = 0; k < num_lines; ++k) {
    const auto derivatives =
        differences_along_a_line([&](const Real50& t) { return f(k, t); }, Real50("1e-8"));
    for (std::size_t p = 0; p < derivatives.size(); ++p) {
      result(static_cast<Eigen::Index>(p), k) = static_cast<double>(derivatives[p]);
    }
  }
  return result;
}

}  // namespace hesscope::test
