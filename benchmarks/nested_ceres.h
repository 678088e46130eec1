// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ceres/jet.h>

#include "constant_of.h"

namespace hesscope::bench {

template <int N>
using NestedJet = ceres::Jet<ceres::Jet<double, N>, N>;

// Nested Jets mix with their inner Jets only.
template <int N>
struct ConstantOf<NestedJet<N>> {
  using Type = ceres::Jet<double, N>;
};

/// A number that is variable `outer` of the outer Jets and variable `inner` of the inner ones; -1:
/// none.
template <int N>
NestedJet<N> nested_variable(double at, int outer, int inner) {
  using Inner = ceres::Jet<double, N>;
  NestedJet<N> x{Inner(at)};
  if (inner >= 0) x.a.v(inner) = 1.0;
  if (outer >= 0) x.v(outer) = Inner(1.0);
  return x;
}

}  // namespace hesscope::bench
