// SPDX-License-Identifier: BSD-3-Clause
//
// Test problems for predicting the time of computations.
#pragma once

#include <Eigen/Core>

#include <hesscope/core/stopwatch.h>

namespace hesscope::detail {

/// A dense symmetric matrix with pseudo-random entries.
inline Eigen::MatrixXd some_matrix(Eigen::Index n) {
  Eigen::MatrixXd a(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    double x = 0.5 + 1e-3 * static_cast<double>(j);
    for (Eigen::Index i = j; i < n; ++i) {
      x = 3.9 * x * (1.0 - x);  // chaotic in (0, 1) ...
      if (!(x > 0.0 && x < 1.0)) x = 0.3;
      a(i, j) = a(j, i) = x - 0.5;
    }
  }
  return a;
}

template <typename F>
double seconds_of(SecondsClock clock, F work) {
  const double start = clock();
  work();
  return clock() - start;
}

}  // namespace hesscope::detail
