// SPDX-License-Identifier: BSD-3-Clause
//
// What Eigen and the standard library need to know about Jets as scalars. Include
// <hesscope/autodiff/jet.h>, which includes this header, so that matrices of Jets never lack it.
#pragma once

#include <limits>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/eigen.h>

/// The limits of double: std::numeric_limits<T>::infinity() then means the same for every scalar.
/// The unspecialised template would silently return 0.
template <int Order, int N, int M>
class std::numeric_limits<hesscope::Jet<Order, N, M>> : public std::numeric_limits<double> {
  using Jet = hesscope::Jet<Order, N, M>;
  using OfDouble = std::numeric_limits<double>;

 public:
  static Jet min() noexcept { return OfDouble::min(); }

  static Jet max() noexcept { return OfDouble::max(); }

  static Jet lowest() noexcept { return OfDouble::lowest(); }

  static Jet epsilon() noexcept { return OfDouble::epsilon(); }

  static Jet round_error() noexcept { return OfDouble::round_error(); }

  static Jet infinity() noexcept { return OfDouble::infinity(); }

  static Jet quiet_NaN() noexcept { return OfDouble::quiet_NaN(); }

  static Jet signaling_NaN() noexcept { return OfDouble::signaling_NaN(); }

  static Jet denorm_min() noexcept { return OfDouble::denorm_min(); }
};

/// Jets as scalars of Eigen matrices, alone and mixed with double.
template <int Order, int N, int M>
struct Eigen::NumTraits<hesscope::Jet<Order, N, M>> : Eigen::NumTraits<double> {
  using Real = hesscope::Jet<Order, N, M>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;

  // NOLINTBEGIN(readability-identifier-naming): names of Eigen
  enum : int {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = sizeof(Real) / sizeof(double),
    AddCost = ReadCost,
    MulCost = 3 * ReadCost
  };

  // NOLINTEND(readability-identifier-naming)
};

template <int Order, int N, int M, typename Operation>
struct Eigen::ScalarBinaryOpTraits<hesscope::Jet<Order, N, M>, double, Operation> {
  using ReturnType = hesscope::Jet<Order, N, M>;
};

template <int Order, int N, int M, typename Operation>
struct Eigen::ScalarBinaryOpTraits<double, hesscope::Jet<Order, N, M>, Operation> {
  using ReturnType = hesscope::Jet<Order, N, M>;
};
