// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of n variables, written once for every scalar, as a user would write them. The methods
// for a functor's Hessian are compared on them.
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "constant_of.h"

namespace hesscope::bench {

/// Rosenbrock's function as a chain, sum_i 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2: ring operations.
struct RosenbrockChain {
  static constexpr const char* kName = "Rosenbrock chain";

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using Constant = typename ConstantOf<T>::Type;
    T sum(Constant(0.0));
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      const T a = Constant(1.0) - x(i);
      const T b = x(i + 1) - x(i) * x(i);
      sum += a * a + Constant(100.0) * (b * b);
    }
    return sum;
  }
};

/// log sum_i exp(x_i x_{i+1}) + sum_i sqrt(1 + x_i^2), indices modulo n: transcendental functions.
struct LogSumExp {
  static constexpr const char* kName = "log-sum-exp";

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using std::exp, std::log, std::sqrt;
    using Constant = typename ConstantOf<T>::Type;
    T exponentials(Constant(0.0));
    T roots(Constant(0.0));
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      exponentials += exp(x(i) * x(i + 1 < x.size() ? i + 1 : 0));
      roots += sqrt(Constant(1.0) + x(i) * x(i));
    }
    return log(exponentials) + roots;
  }
};

}  // namespace hesscope::bench
