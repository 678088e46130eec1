// SPDX-License-Identifier: BSD-3-Clause
//
// What Eigen wants to know of its scalars, of Jets; include <hesscope/autodiff/jet.h>, which
// includes this, so that no matrix of Jets is made without it.
#pragma once

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/eigen.h>

/// Jets as scalars of Eigen matrices, alone and mixed with double.
template <int Order, int N, int M>
struct Eigen::NumTraits<hesscope::Jet<Order, N, M>> : Eigen::NumTraits<double> {
  using Real = hesscope::Jet<Order, N, M>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;

  enum : int {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = sizeof(Real) / sizeof(double),
    AddCost = ReadCost,
    MulCost = 3 * ReadCost
  };
};

template <int Order, int N, int M, typename Operation>
struct Eigen::ScalarBinaryOpTraits<hesscope::Jet<Order, N, M>, double, Operation> {
  using ReturnType = hesscope::Jet<Order, N, M>;
};

template <int Order, int N, int M, typename Operation>
struct Eigen::ScalarBinaryOpTraits<double, hesscope::Jet<Order, N, M>, Operation> {
  using ReturnType = hesscope::Jet<Order, N, M>;
};
