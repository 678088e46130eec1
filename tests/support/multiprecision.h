// SPDX-License-Identifier: BSD-3-Clause
//
// 50-digit numbers as scalars of Eigen matrices: the oracle of the derivative tests.
#pragma once

#include <limits>

#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace hesscope::test {

// Without expression templates: Eigen keeps its operands by value.
using Real50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                             boost::multiprecision::et_off>;

}  // namespace hesscope::test

// Boost 1.74's own Eigen bridge does not compile with Eigen 3.4.
template <>
struct Eigen::NumTraits<hesscope::test::Real50> : Eigen::GenericNumTraits<hesscope::test::Real50> {
  enum { ReadCost = 10, AddCost = 20, MulCost = 40, RequireInitialization = 1 };
};

template <typename Operation>
struct Eigen::ScalarBinaryOpTraits<hesscope::test::Real50, double, Operation> {
  using ReturnType = hesscope::test::Real50;
};

template <typename Operation>
struct Eigen::ScalarBinaryOpTraits<double, hesscope::test::Real50, Operation> {
  using ReturnType = hesscope::test::Real50;
};
