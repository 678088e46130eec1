// SPDX-License-Identifier: BSD-3-Clause
//
// How functions of many variables are differentiated with Jets of few. A sweep is one evaluation of
// the function with Jets whose variables 0 .. M-1 are `num_columns` of the parameters (or
// directions) and whose variables M .. N-1 are up to N - M further parameters, the rows. A Jet<2,
// N, M> stores only the second derivatives of this trapezium:
//
//           column .. +M
//            +-----+
//            | \   |  the M x M triangle
//      row   +-----+
//            |     |  (N - M) x M
//            +-----+
//
// With columns taken from left to right and rows from top to bottom, the sweeps tile the lower
// triangle. Each sweep of a column block repeats its small triangle: 36 of 261 numbers for N = 32,
// M = 8. With M = N, a single sweep suffices.
//
// For n = 7, N = 5, M = 2 there are five sweeps. Below are the slopes with which they seed the
// parameters (one line per parameter, one column per variable, a dot for 0), and which entries of H
// each sweep finds:
//
//            a: column 0     b: column 0     c: column 2     d: column 4           H
//               row 2           row 5           row 4           row 6
//
//    x(0)     1 . | . . .     1 . | . . .     . . | . . .     . . | . . .     a
//    x(1)     . 1 | . . .     . 1 | . . .     . . | . . .     . . | . . .     a a
//    x(2)     . . | 1 . .     . . | . . .     1 . | . . .     . . | . . .     a a c
//    x(3)     . . | . 1 .     . . | . . .     . 1 | . . .     . . | . . .     a a c c
//    x(4)     . . | . . 1     . . | . . .     . . | 1 . .     1 . | . . .     a a c c d
//    x(5)     . . | . . .     . . | 1 . .     . . | . 1 .     . 1 | . . .     b b c c d d
//    x(6)     . . | . . .     . . | . 1 .     . . | . . 1     . . | 1 . .     b b c c d d e
//
// The fifth sweep, e, has one column, 6, and no rows. For products H V, the left part holds columns
// of V, and the rows begin at 0.
//
// An entry (i, j) results from the same operations in the same order, whichever sweep holds it:
// chain rules treat pairs separately, and i > j in the matrix is i > j in the Jet.
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include <hesscope/autodiff/jet.h>
#include <hesscope/autodiff/jet_tape.h>
#include <hesscope/core/eigen.h>

namespace hesscope::detail {

template <typename T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

struct JetSweep {
  Eigen::Index column = 0;  // first of the parameters (directions) of variables 0 .. M-1
  Eigen::Index num_columns = 0;
  Eigen::Index row = 0;  // first of the parameters of variables M .. N-1
  Eigen::Index num_rows = 0;
};

// The Jets in use. For each of them the user's compiler compiles the function and Eigen's vectors
// again.
inline constexpr int kLargestSingleSweep = 16;
using BlockGradientJet = Jet<1, 16>;
using BlockHessianJet = Jet<2, 28, 8>;
// Eigen's decompositions put 8 x 8 scalars on the stack and do not compile beyond 128 KiB.
static_assert(sizeof(BlockHessianJet) * 8 * 8 <= std::size_t{128} * 1024);
using OneDirectionJet = Jet<2, 17, 1>;
using FourDirectionsJet = Jet<2, 20, 4>;

// From this many variables on, a function is recorded (jet_tape.h); Jets are used only if that
// fails.
inline constexpr int kSmallestRecorded = 9;

template <int Size>
inline constexpr bool kMayBeRecorded = Size == Eigen::Dynamic || Size >= kSmallestRecorded;

// f(x, args...) with the tape's variables at `point`. J is a parameter so that Eigen's vector of it
// is compiled only when this is used.
template <typename F, typename... Args, AnyJet J = RecordedJet>
RecordedJet record(const F& f, const Eigen::VectorXd& point, JetTape& tape, const Args&... args) {
  VectorOf<J> x(point.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = J(point(i), tape, i);
  return f(x, args...);
}

// The Jets for a vector of Size entries; unless Size is Dynamic, the first one is the only one.
template <int Size>
using FirstGradientJet = std::conditional_t<Size == Eigen::Dynamic,
                                            Jet<1, 4>,
                                            std::conditional_t<(Size <= kLargestSingleSweep),
                                                               Jet<1, (Size > 0 ? Size : 1)>,
                                                               BlockGradientJet>>;
template <int Size>
using FirstHessianJet = std::conditional_t<Size == Eigen::Dynamic,
                                           Jet<2, 2>,
                                           std::conditional_t<(Size <= kLargestSingleSweep),
                                                              Jet<2, (Size > 0 ? Size : 1)>,
                                                              BlockHessianJet>>;

// Calls body.template operator()<J>() with the Jet to use for n variables; n = Size unless Size is
// Dynamic.
template <int Size, typename Body>
void with_gradient_jet(Eigen::Index n, const Body& body) {
  if constexpr (Size != Eigen::Dynamic) {
    body.template operator()<FirstGradientJet<Size>>();
  } else if (n <= 4) {
    body.template operator()<Jet<1, 4>>();
  } else {
    body.template operator()<BlockGradientJet>();
  }
}

template <int Size, typename Body>
void with_hessian_jet(Eigen::Index n, const Body& body) {
  if constexpr (Size != Eigen::Dynamic) {
    body.template operator()<FirstHessianJet<Size>>();
  } else if (n <= 2) {
    body.template operator()<Jet<2, 2>>();
  } else if (n <= 4) {
    body.template operator()<Jet<2, 4>>();
  } else if (n < kSmallestRecorded) {
    body.template operator()<Jet<2, kSmallestRecorded - 1>>();
  } else {
    body.template operator()<BlockHessianJet>();
  }
}

template <typename Body>
void with_direction_jet(const JetSweep& sweep, const Body& body) {
  if (sweep.num_columns == 1) {
    body.template operator()<OneDirectionJet>();
  } else {
    body.template operator()<FourDirectionsJet>();
  }
}

// The sweeps over n parameters with Jets in N variables that hold second derivatives for M columns
// of them.
std::vector<JetSweep> gradient_sweeps(Eigen::Index n, Eigen::Index num_variables);
std::vector<JetSweep> hessian_sweeps(Eigen::Index n,
                                     Eigen::Index num_variables,
                                     Eigen::Index num_columns);

template <AnyJet J>
std::vector<JetSweep> gradient_sweeps(Eigen::Index n) {
  return gradient_sweeps(n, J::kNumVariables);
}

template <AnyJet J>
std::vector<JetSweep> hessian_sweeps(Eigen::Index n) {
  return hessian_sweeps(n, J::kNumVariables, J::kNumColumns);
}

// For n parameters and k directions: four directions at a time, or a single one if only one is
// left.
std::vector<JetSweep> direction_sweeps(Eigen::Index n, Eigen::Index k);

template <AnyJet J>
double& slope(J& x, Eigen::Index variable) {
  return x.gradient[static_cast<std::size_t>(variable)];
}

template <AnyJet J>
void seed_rows(const JetSweep& sweep, VectorOf<J>& x) {
  for (Eigen::Index i = 0; i < sweep.num_rows; ++i)
    slope(x(sweep.row + i), J::kNumColumns + i) = 1.0;
}

// The point as constants. Written as a loop, because Eigen's cast would be one more type to
// compile.
template <AnyJet J>
VectorOf<J> constants(const Eigen::VectorXd& point) {
  VectorOf<J> x(point.size());
  for (Eigen::Index i = 0; i < point.size(); ++i) x(i) = J(point(i));
  return x;
}

// The point as Jets: the parameters of the sweep are variables, the others constants.
template <AnyJet J>
VectorOf<J> seeded(const Eigen::VectorXd& point, const JetSweep& sweep) {
  VectorOf<J> x = constants<J>(point);
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) slope(x(sweep.column + j), j) = 1.0;
  seed_rows(sweep, x);
  return x;
}

// Like seeded(), but variables 0 .. M-1 are steps along the sweep's columns of `directions`.
template <AnyJet J>
VectorOf<J> seeded_along(const Eigen::VectorXd& point,
                         const Eigen::MatrixXd& directions,
                         const JetSweep& sweep) {
  VectorOf<J> x = constants<J>(point);
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) {
    for (Eigen::Index i = 0; i < x.size(); ++i) slope(x(i), j) = directions(i, sweep.column + j);
  }
  seed_rows(sweep, x);
  return x;
}

// Copies the derivatives of a sweep's Jet to their places. `second` holds its second derivatives,
// packed as in Jet::hessian for N variables and M columns.
void store_gradient(const double* slopes, const JetSweep& sweep, double* gradient);
void store_hessian(const double* second,
                   Eigen::Index num_variables,
                   Eigen::Index num_columns,
                   const JetSweep& sweep,
                   Eigen::MatrixXd& hessian);
void store_products(const double* second,
                    Eigen::Index num_variables,
                    Eigen::Index num_columns,
                    const JetSweep& sweep,
                    Eigen::MatrixXd& products);

// `gradient` has one entry per parameter.
template <AnyJet J>
void store_gradient(const J& y, const JetSweep& sweep, double* gradient) {
  store_gradient(y.gradient.data(), sweep, gradient);
}

// Writes entries (i, j) and (j, i) of the sweep's trapezium. Sweeps with the same column have the
// same numbers in their small triangle; only the first of them (row = column + num_columns) writes
// these, so that sweeps may be stored concurrently.
template <AnyJet J>
void store_hessian(const J& y, const JetSweep& sweep, Eigen::MatrixXd& hessian) {
  store_hessian(y.hessian.data(), J::kNumVariables, J::kNumColumns, sweep, hessian);
}

// Second derivatives along direction j and parameter i are the entries (i, j) of H V.
template <AnyJet J>
void store_products(const J& y, const JetSweep& sweep, Eigen::MatrixXd& products) {
  store_products(y.hessian.data(), J::kNumVariables, J::kNumColumns, sweep, products);
}

// Whether f(x, args...) with scalars T returns a T, or an Eigen expression that converts to T. A
// number of another type would carry no derivatives.
template <typename F, typename T, typename... Args>
using Given = std::invoke_result_t<const F&, const VectorOf<T>&, const Args&...>;

template <typename F, typename T, typename... Args>
concept GivesScalar = std::convertible_to<Given<F, T, Args...>, T> &&
    (std::same_as<T, double> || !std::is_arithmetic_v<std::remove_cvref_t<Given<F, T, Args...>>>);

// Checks F with the Jet J that it will be called with. Doubles are tried only if this fails, to
// tell two mistakes apart: every scalar type compiles the function again.
template <typename F, AnyJet J>
constexpr void require_function() {
  if constexpr (!GivesScalar<F, J>) {
    static_assert(GivesScalar<F, double>,
                  "hesscope: the function must be callable as f(x) on a const object with "
                  "const Eigen::Matrix<T, Eigen::Dynamic, 1>& x and return a T, T being double "
                  "or a Jet");
    static_assert(!GivesScalar<F, double>,
                  "hesscope: the function must be generic in its scalar: template <typename T> "
                  "T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const, or a lambda "
                  "[](const auto& x) { ... }, returning the scalar type of its argument, not "
                  "double");
  }
}

[[noreturn]] void refuse_empty_point(const char* function);
[[noreturn]] void refuse_directions(const char* function, Eigen::Index n, Eigen::Index num_rows);

template <typename Derived>
Eigen::VectorXd require_point(const char* function, const Eigen::MatrixBase<Derived>& x) {
  static_assert(Derived::IsVectorAtCompileTime, "hesscope: the point x must be a vector");
  static_assert(std::is_same_v<typename Derived::Scalar, double>,
                "hesscope: the point x must be a vector of double; write x.cast<double>()");
  if (x.size() == 0) refuse_empty_point(function);
  if constexpr (std::is_base_of_v<Eigen::PlainObjectBase<Derived>, Derived>) {
    Eigen::VectorXd point(x.size());
    for (Eigen::Index i = 0; i < point.size(); ++i) point(i) = x.derived().data()[i];
    return point;
  } else if constexpr (Derived::ColsAtCompileTime == 1) {
    return x;
  } else {
    return x.transpose();
  }
}

template <typename Derived>
Eigen::MatrixXd require_directions(const char* function,
                                   Eigen::Index n,
                                   const Eigen::MatrixBase<Derived>& directions) {
  static_assert(std::is_same_v<typename Derived::Scalar, double>,
                "hesscope: the directions V must be a matrix of double; write V.cast<double>()");
  if (directions.rows() != n) refuse_directions(function, n, directions.rows());
  return directions;
}

}  // namespace hesscope::detail
