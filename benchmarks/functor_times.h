// SPDX-License-Identifier: BSD-3-Clause
//
// A functor's Hessian by hesscope and by its peers, timed side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hesscope::bench {

/// Medians over rounds in which the methods alternate, on one thread, in nanoseconds per Hessian.
/// nullopt: the peer is not installed.
struct FunctorTimes {
  std::string function;
  int num_variables = 0;
  double hesscope = 0;        ///< hesscope::hessian, x of run-time size
  double hesscope_fixed = 0;  ///< the same, x of compile-time size
  double nested_ceres = 0;    ///< hand-seeded ceres::Jet<ceres::Jet<double, n>, n>
  std::optional<double>
      adolc;  ///< one tape, recorded beforehand; the faster of ADOL-C's two dense drivers
  double largest_difference = 0;  ///< max |H - H_peer| / ||H||_F over the peers
};

/// For n = 4, 10, 30 and each function of functors.h.
/// @param num_rounds  at least 1; the median is over these.
std::vector<FunctorTimes> functor_times(int num_rounds);

}  // namespace hesscope::bench
