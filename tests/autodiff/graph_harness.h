// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that the engine says about a graph's derivatives, compared with three oracles.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>

#include <Eigen/Core>

#include <hesscope/autodiff/graph.h>

#include "support/multiprecision.h"
#include "support/nested_ceres.h"
#include "support/numbers.h"

namespace hesscope::test {

// Two groups of Hessian columns, so that an operand of parameters 0..5 is inactive while 8..11 are
// seeded; and full packs of samples plus a padded one, for any number of lanes.
inline constexpr int kParameters = 12;
inline constexpr Eigen::Index kRecord = 12;
inline constexpr Eigen::Index kSamples = 11;

// A hundred operations, each with a rounding of eps / 2, and some cancellation.
inline constexpr double kGraphTolerance = 1e-14;

// Entries [offset, offset + rows * cols) as a matrix, row-major.
template <typename T, typename Source>
Dense<T> matrix(const Source& source, Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  Dense<T> m(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < cols; ++j) m(i, j) = T(source[offset + i * cols + j]);
  }
  return m;
}

// The constant operand of these tests.
Eigen::MatrixXd constant(Eigen::Index rows, Eigen::Index cols);

// The loss of these tests, sum_ij w_ij (m_ij + m_ij^2): curved, and every entry counts differently.
Var readout(Var m);

// An operation as scalar code, output(theta, record), on the oracles' scalars.
class ScalarOperation {
 public:
  template <typename Output>
  ScalarOperation(const Output& output)  // NOLINT: any lambda
      : on_(On<NestedCeres<kParameters>>(output), On<Real50>(output)) {}

  template <typename T>
  Dense<T> operator()(const Column<T>& theta, const double* record) const {
    return std::get<On<T>>(on_)(theta, record);
  }

 private:
  template <typename T>
  using On = std::function<Dense<T>(const Column<T>&, const double*)>;

  std::tuple<On<NestedCeres<kParameters>>, On<Real50>> on_;
};

// Compares everything that the engine says about the graph with three oracles. `output(theta,
// record)` gives the matrix of at most 36 entries that `record_output(graph)` records; their
// readouts are the loss.
void expect_derivatives(const std::function<Var(Graph&)>& record_output,
                        const ScalarOperation& output);

// A unary operation on 3 x 4 parameters, all twelve.
template <typename Recorded, typename Scalar>
void expect_unary(Recorded recorded, Scalar scalar) {
  expect_derivatives([&](Graph& g) { return recorded(g.parameter(0, 3, 4)); },
                     [&](const auto& theta, const double* /*record*/) {
                       using T = typename std::decay_t<decltype(theta)>::Scalar;
                       return Dense<T>(scalar(matrix<T>(theta, 0, 3, 4)));
                     });
}

template <typename M, typename F>
M entrywise(M m, F f) {
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = f(m.data()[i]);
  return m;
}

}  // namespace hesscope::test
