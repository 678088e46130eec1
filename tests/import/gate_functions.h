// SPDX-License-Identifier: BSD-3-Clause
//
// What gates and states of recurrent layers go through, of any scalar.
#pragma once

#include <cmath>

namespace hesscope::test {

template <typename T>
T logistic(const T& x) {
  using std::exp;
  return T(1.0) / (T(1.0) + exp(-x));
}

template <typename T>
T hyperbolic(const T& x) {
  using std::tanh;
  return tanh(x);
}

}  // namespace hesscope::test
