// SPDX-License-Identifier: BSD-3-Clause
//
// Exact derivatives of a function written once for every scalar:
//
//   const auto rosenbrock = [](const auto& x) {
//     const auto a = 1.0 - x(0);
//     const auto b = x(1) - x(0) * x(0);
//     return a * a + 100.0 * b * b;
//   };
//   const Eigen::MatrixXd H = hesscope::hessian(rosenbrock, Eigen::Vector2d(-1.2, 1.0));
//
// The function. Any callable with
//
//   template <typename T> T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const
//
// (a generic lambda is one). It is called with Jets (jet.h), so it must not name double where it
// means T, and must say `using std::exp; exp(v)` rather than `std::exp(v)`. T mixes with double and
// int: 2.0 * x(0), x(0) + 1. It may branch on values, loop and call Eigen. Beware of `auto` with
// Eigen's expressions: return `T`, not an expression that refers to a local variable. Exceptions
// that it throws reach the caller.
//
// Method. Up to 8 variables are differentiated in one call of f with a Jet<2, N>, where N is the
// next of 2, 4, 8, or exactly x's size if that is known at compile time. With more variables, f is
// called once with a Jet that records it, and the record is traversed backwards (jet_tape.h). If
// this fails, because f takes more than 2^20 operations or a derivative is not finite, f is called
// again with Jets for blocks of variables (detail/jet_sweeps.h). Every scalar type compiles f
// again: a vector of run-time size takes 5 instantiations of f for hessian, 3 for gradient, 3 for
// hessian_times; one of fixed size up to 8 takes 1 for hessian, 1 for gradient and 2 for
// hessian_times. Whatever does not depend on f is compiled in the library.
//
// Non-finite results are returned unchanged; jet.h lists the choices at kinks. The functions below
// hold no state and may be called concurrently if f may.
#pragma once

#include <cmath>

#include <hesscope/autodiff/detail/jet_sweeps.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/error.h>

namespace hesscope {

/// A function's value and its first two derivatives at one point.
struct ValueGradientHessian {
  double value;
  Eigen::VectorXd gradient;  ///< n
  Eigen::MatrixXd hessian;   ///< n x n, symmetric to the last bit
};

namespace detail {

// Records f and writes value, gradient and, unless null, hessian. Returns false, leaving the work
// to Jets, if one of them is not finite or f is too long to record.
template <typename F>
bool differentiate_recorded(const F& f,
                            const Eigen::VectorXd& point,
                            double& value,
                            Eigen::VectorXd& gradient,
                            Eigen::MatrixXd* hessian) {
  JetTape tape(point.size());
  const RecordedJet y = record(f, point, tape);
  value = y.value;
  return std::isfinite(value) &&
         tape.differentiate(
             y.step(), gradient.data(), hessian == nullptr ? nullptr : hessian->data());
}

// The same for products with directions, n x k.
template <typename F>
bool hessian_times_recorded(const F& f,
                            const Eigen::VectorXd& point,
                            const Eigen::MatrixXd& directions,
                            Eigen::MatrixXd& products) {
  JetTape tape(point.size());
  const RecordedJet y = record(f, point, tape);
  products.setZero();
  bool is_valid = std::isfinite(y.value);
  for (Eigen::Index first = 0; is_valid && first < directions.cols(); first += JetTape::kWidth) {
    const Eigen::Index count = directions.cols() - first;
    is_valid = tape.add_hessian_times(
        y.step(),
        directions.middleCols(first, count < JetTape::kWidth ? count : JetTape::kWidth),
        products.col(first).data());
  }
  return is_valid;
}

}  // namespace detail

/// The gradient of f at x.
///
/// @param  x  any vector expression of double: of fixed or dynamic size, a Map, a block, row or
///            column.
/// @throws PreconditionError if x is empty; whatever f throws.
/// @cost   n <= 8: one call of f with a Jet<1, N>, N at most 16. Beyond: about 3 calls of f with
///         doubles, independently of n, and 56 bytes of scratch per operation of f. If f takes more
///         than 2^20 operations, or a derivative is not finite: n / 16 further calls with Jets.
template <typename F, typename Derived>
Eigen::VectorXd gradient(const F& f, const Eigen::MatrixBase<Derived>& x) {
  detail::require_function<F, detail::FirstGradientJet<Derived::SizeAtCompileTime>>();
  const Eigen::VectorXd point = detail::require_point("gradient", x);
  Eigen::VectorXd result(point.size());
  if constexpr (detail::kMayBeRecorded<Derived::SizeAtCompileTime>) {
    double value = 0.0;
    if (point.size() >= detail::kSmallestRecorded &&
        detail::differentiate_recorded(f, point, value, result, nullptr)) {
      return result;
    }
  }
  detail::with_gradient_jet<Derived::SizeAtCompileTime>(point.size(), [&]<AnyJet J>() {
    for (const detail::JetSweep& sweep : detail::gradient_sweeps<J>(point.size())) {
      const J y = f(detail::seeded<J>(point, sweep));
      detail::store_gradient(y, sweep, result.data());
    }
  });
  return result;
}

namespace detail {

// @param function  the public function that was called, for the message.
template <typename F, typename Derived>
ValueGradientHessian value_gradient_hessian(const char* function,
                                            const F& f,
                                            const Eigen::MatrixBase<Derived>& x) {
  require_function<F, FirstHessianJet<Derived::SizeAtCompileTime>>();
  const Eigen::VectorXd point = require_point(function, x);
  const Eigen::Index n = point.size();
  ValueGradientHessian result{0.0, Eigen::VectorXd(n), Eigen::MatrixXd(n, n)};
  if constexpr (kMayBeRecorded<Derived::SizeAtCompileTime>) {
    if (n >= kSmallestRecorded &&
        differentiate_recorded(f, point, result.value, result.gradient, &result.hessian)) {
      return result;
    }
  }
  with_hessian_jet<Derived::SizeAtCompileTime>(n, [&]<AnyJet J>() {
    for (const JetSweep& sweep : hessian_sweeps<J>(n)) {
      const J y = f(seeded<J>(point, sweep));
      result.value = y.value;
      store_gradient(y, sweep, result.gradient.data());
      store_hessian(y, sweep, result.hessian);
    }
  });
  return result;
}

}  // namespace detail

/// Value, gradient and Hessian of f at x, at the cost of the Hessian. Arguments as in gradient.
template <typename F, typename Derived>
ValueGradientHessian value_gradient_hessian(const F& f, const Eigen::MatrixBase<Derived>& x) {
  return detail::value_gradient_hessian("value_gradient_hessian", f, x);
}

/// The exact Hessian of f at x, n x n, symmetric to the last bit. Arguments and exceptions as in
/// gradient.
///
/// @cost   n <= 8: one call of f with a Jet of (n + 1) (n + 2) / 2 doubles. Beyond: one call that
///         records f, and n / 8 passes over the record with 8 numbers per operation; 190 bytes of
///         scratch per operation of f. If f takes more than 2^20 operations, or a derivative is not
///         finite: about n^2 / 400 further calls with Jets of 225 doubles.
/// @par Example  tests/autodiff/derivatives_test.cc, "Hessian.MatchesClosedFormOfRosenbrock"
template <typename F, typename Derived>
Eigen::MatrixXd hessian(const F& f, const Eigen::MatrixBase<Derived>& x) {
  return detail::value_gradient_hessian("hessian", f, x).hessian;
}

/// H V for the Hessian H of f at x, without forming H.
///
/// @param  directions  V, n x k, any matrix expression of double.
/// @return n x k; equal to hessian(f, x) * V up to rounding.
/// @throws PreconditionError if x is empty or V does not have n rows; whatever f throws.
/// @cost   n <= 8: one call of f with a Jet of 35 doubles for k = 1, otherwise one with a Jet of 95
///         doubles per four directions. Beyond: one call that records f, and one pass over the
///         record per eight directions with 8 numbers per operation; 190 bytes of scratch per
///         operation of f.
template <typename F, typename Derived, typename DerivedV>
Eigen::MatrixXd hessian_times(const F& f,
                              const Eigen::MatrixBase<Derived>& x,
                              const Eigen::MatrixBase<DerivedV>& directions) {
  detail::require_function<F, detail::OneDirectionJet>();
  const Eigen::VectorXd point = detail::require_point("hessian_times", x);
  const Eigen::MatrixXd v = detail::require_directions("hessian_times", point.size(), directions);
  Eigen::MatrixXd result(v.rows(), v.cols());
  if constexpr (detail::kMayBeRecorded<Derived::SizeAtCompileTime>) {
    if (point.size() >= detail::kSmallestRecorded &&
        detail::hessian_times_recorded(f, point, v, result)) {
      return result;
    }
  }
  for (const detail::JetSweep& sweep : detail::direction_sweeps(v.rows(), v.cols())) {
    detail::with_direction_jet(sweep, [&]<AnyJet J>() {
      const J y = f(detail::seeded_along<J>(point, v, sweep));
      detail::store_products(y, sweep, result);
    });
  }
  return result;
}

}  // namespace hesscope
