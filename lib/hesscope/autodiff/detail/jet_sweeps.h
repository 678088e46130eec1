// SPDX-License-Identifier: BSD-3-Clause
//
// How many variables are fed to Jets of few. A sweep is one evaluation of the function with Jets
// whose variables 0 .. M-1 are `num_columns` of the parameters (or directions) and whose variables
// M .. N-1 are up to N - M further parameters, the rows. A Jet<2, N, M> keeps just the second
// derivatives of that trapezium:
//
//           column .. +M
//            +-----+
//            | \   |  the M x M triangle
//      row   +-----+
//            |     |  (N - M) x M
//            +-----+
//
// With columns left to right and rows top to bottom the sweeps tile the lower triangle. Each sweep
// of a column block repeats its small triangle: 36 of 261 numbers for N = 32, M = 8. With M = N one
// sweep does it all.
//
// An entry (i, j) comes from the same operations in the same order whichever sweep holds it: chain
// rules treat pairs separately, and i > j in the matrix is i > j in the Jet.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include <hesscope/autodiff/jet.h>
#include <hesscope/autodiff/jet_tape.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {

template <typename T>
using VectorOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

struct JetSweep {
  Eigen::Index column = 0;  // first of the parameters (directions) of variables 0 .. M-1
  Eigen::Index num_columns = 0;
  Eigen::Index row = 0;  // first of the parameters of variables M .. N-1
  Eigen::Index num_rows = 0;
};

// The Jets in use; see derivatives.h for what each costs a user's compiler.
inline constexpr int kLargestSingleSweep = 16;
using BlockGradientJet = Jet<1, 16>;
using BlockHessianJet = Jet<2, 32, 8>;
using OneDirectionJet = Jet<2, 17, 1>;
using FourDirectionsJet = Jet<2, 20, 4>;

// From so many variables on a function is recorded (jet_tape.h), and Jets are what remains where
// that fails.
inline constexpr int kSmallestRecorded = 9;

template <int Size>
inline constexpr bool kMayBeRecorded = Size == Eigen::Dynamic || Size >= kSmallestRecorded;

// f(x, args...) with the tape's variables at `point`.
template <typename F, typename... Args>
RecordedJet record(const F& f, const Eigen::VectorXd& point, JetTape& tape, const Args&... args) {
  VectorOf<RecordedJet> x(point.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = RecordedJet(point(i), tape, i);
  return f(x, args...);
}

// Calls body.template operator()<J>() with the Jet to use for n variables, n = Size where not
// Dynamic.
template <int Size, typename Body>
void with_gradient_jet(Eigen::Index n, const Body& body) {
  if constexpr (Size != Eigen::Dynamic) {
    if constexpr (Size <= kLargestSingleSweep) {
      body.template operator()<Jet<1, Size>>();
    } else {
      body.template operator()<BlockGradientJet>();
    }
  } else if (n <= 4) {
    body.template operator()<Jet<1, 4>>();
  } else {
    body.template operator()<BlockGradientJet>();
  }
}

template <int Size, typename Body>
void with_hessian_jet(Eigen::Index n, const Body& body) {
  if constexpr (Size != Eigen::Dynamic) {
    if constexpr (Size <= kLargestSingleSweep) {
      body.template operator()<Jet<2, Size>>();
    } else {
      body.template operator()<BlockHessianJet>();
    }
  } else if (n <= 2) {
    body.template operator()<Jet<2, 2>>();
  } else if (n <= 4) {
    body.template operator()<Jet<2, 4>>();
  } else if (n <= 8) {
    body.template operator()<Jet<2, 8>>();
  } else if (n <= kLargestSingleSweep) {
    body.template operator()<Jet<2, kLargestSingleSweep>>();
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

template <AnyJet J>
std::vector<JetSweep> gradient_sweeps(Eigen::Index n) {
  constexpr Eigen::Index kWidth = J::kNumVariables;
  std::vector<JetSweep> sweeps;
  for (Eigen::Index column = 0; column < n; column += kWidth) {
    sweeps.push_back({column, std::min(kWidth, n - column), n, 0});
  }
  return sweeps;
}

template <AnyJet J>
std::vector<JetSweep> hessian_sweeps(Eigen::Index n) {
  constexpr Eigen::Index kColumns = J::kNumColumns;
  constexpr Eigen::Index kRows = J::kNumVariables - kColumns;
  std::vector<JetSweep> sweeps;
  for (Eigen::Index column = 0; column < n; column += kColumns) {
    const Eigen::Index num_columns = std::min(kColumns, n - column);
    Eigen::Index row = column + num_columns;
    do {
      const Eigen::Index num_rows = std::min(kRows, n - row);
      sweeps.push_back({column, num_columns, row, num_rows});
      row += num_rows;
    } while (row < n);
  }
  return sweeps;
}

// For n parameters and k directions; four directions at a time, one where one is left.
inline std::vector<JetSweep> direction_sweeps(Eigen::Index n, Eigen::Index k) {
  constexpr Eigen::Index kColumns = FourDirectionsJet::kNumColumns;
  constexpr Eigen::Index kRows = FourDirectionsJet::kNumVariables - kColumns;
  static_assert(kRows == OneDirectionJet::kNumVariables - OneDirectionJet::kNumColumns);
  std::vector<JetSweep> sweeps;
  for (Eigen::Index column = 0; column < k; column += kColumns) {
    for (Eigen::Index row = 0; row < n; row += kRows) {
      sweeps.push_back({column, std::min(kColumns, k - column), row, std::min(kRows, n - row)});
    }
  }
  return sweeps;
}

template <AnyJet J>
double& slope(J& x, Eigen::Index variable) {
  return x.gradient[static_cast<std::size_t>(variable)];
}

template <AnyJet J>
void seed_rows(const JetSweep& sweep, VectorOf<J>& x) {
  for (Eigen::Index i = 0; i < sweep.num_rows; ++i)
    slope(x(sweep.row + i), J::kNumColumns + i) = 1.0;
}

// The point as Jets: parameters of the sweep are variables, the others constants.
template <AnyJet J>
VectorOf<J> seeded(const Eigen::VectorXd& point, const JetSweep& sweep) {
  VectorOf<J> x = point.template cast<J>();
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) slope(x(sweep.column + j), j) = 1.0;
  seed_rows(sweep, x);
  return x;
}

// As seeded, but variables 0 .. M-1 are steps along the sweep's columns of `directions`.
template <AnyJet J>
VectorOf<J> seeded_along(const Eigen::VectorXd& point,
                         const Eigen::MatrixXd& directions,
                         const JetSweep& sweep) {
  VectorOf<J> x = point.template cast<J>();
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) {
    for (Eigen::Index i = 0; i < x.size(); ++i) slope(x(i), j) = directions(i, sweep.column + j);
  }
  seed_rows(sweep, x);
  return x;
}

template <AnyJet J>
void store_gradient(const J& y, const JetSweep& sweep, Eigen::Ref<Eigen::VectorXd> gradient) {
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) {
    gradient(sweep.column + j) = y.gradient[static_cast<std::size_t>(j)];
  }
}

// Writes entries (i, j) and (j, i) of the sweep's trapezium. Sweeps with the same column write the
// same numbers to its small triangle, and only the first of them (row = column + num_columns) does
// so, so that sweeps may be stored concurrently.
template <AnyJet J>
void store_hessian(const J& y, const JetSweep& sweep, Eigen::MatrixXd& hessian) {
  const auto store = [&](Eigen::Index row, Eigen::Index column, Eigen::Index i, Eigen::Index j) {
    const double entry = y.second(static_cast<int>(i), static_cast<int>(j));
    hessian(row, column) = entry;
    hessian(column, row) = entry;
  };
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) {
    if (sweep.row == sweep.column + sweep.num_columns) {
      for (Eigen::Index i = j; i < sweep.num_columns; ++i) {
        store(sweep.column + i, sweep.column + j, i, j);
      }
    }
    for (Eigen::Index i = 0; i < sweep.num_rows; ++i) {
      store(sweep.row + i, sweep.column + j, J::kNumColumns + i, j);
    }
  }
}

// Second derivatives along direction j and parameter i are the entries (i, j) of H V.
template <AnyJet J>
void store_products(const J& y, const JetSweep& sweep, Eigen::MatrixXd& products) {
  for (Eigen::Index j = 0; j < sweep.num_columns; ++j) {
    for (Eigen::Index i = 0; i < sweep.num_rows; ++i) {
      products(sweep.row + i, sweep.column + j) =
          y.second(J::kNumColumns + static_cast<int>(i), static_cast<int>(j));
    }
  }
}

// Whether f(x, args...) with scalars T gives a T, or an Eigen expression that converts to T. A
// number that is not a T would carry no derivatives.
template <typename F, typename T, typename... Args>
concept GivesScalar = requires(const F& f, const VectorOf<T>& x, const Args&... args) {
  { f(x, args...) } -> std::convertible_to<T>;
}

&&(std::same_as<T, double> ||
   !std::is_arithmetic_v<
       std::remove_cvref_t<std::invoke_result_t<const F&, const VectorOf<T>&, Args...>>>);

template <typename F>
constexpr void require_function() {
  static_assert(GivesScalar<F, double>,
                "hesscope: the function must be callable as f(x) on a const object with "
                "const Eigen::Matrix<double, Eigen::Dynamic, 1>& x and return a double");
  static_assert(GivesScalar<F, Jet<1, 4>>,
                "hesscope: the function must be generic in its scalar: template <typename T> "
                "T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const, or a lambda "
                "[](const auto& x) { ... }, returning the scalar type of its argument, not double");
}

template <typename Derived>
Eigen::VectorXd require_point(const char* function, const Eigen::MatrixBase<Derived>& x) {
  static_assert(Derived::IsVectorAtCompileTime, "hesscope: the point x must be a vector");
  static_assert(std::is_same_v<typename Derived::Scalar, double>,
                "hesscope: the point x must be a vector of double; write x.cast<double>()");
  if (x.size() == 0) {
    throw PreconditionError(std::string(function) + ": x must have at least 1 entry");
  }
  if constexpr (Derived::ColsAtCompileTime == 1) {
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
  if (directions.rows() != n) {
    throw PreconditionError(std::string(function) +
                            ": V must have as many rows as x has entries, " + std::to_string(n) +
                            ", got " + std::to_string(directions.rows()));
  }
  return directions;
}

}  // namespace hesscope::detail
