// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/autodiff/jet.h>

namespace hesscope::test {

using Jet1 = Jet<2, 1>;

/// NaN equals NaN; the sign of zero does not matter.
inline void expect_number(double actual, double expected, const char* what) {
  EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == expected)
      << what << " is " << actual << ", expected " << expected;
}

inline void expect_jet(const Jet1& y, double value, double first, double second) {
  expect_number(y.value, value, "value");
  expect_number(y.gradient[0], first, "first derivative");
  expect_number(y.second(0, 0), second, "second derivative");
}

inline Jet1 variable(double at) { return Jet1::variable(at, 0); }

}  // namespace hesscope::test
