// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of a loss in a second implementation as plain scalar code, to compare with the graph:
//
//   struct Loss { template <typename T> T operator()(const Column<T>& theta, const double* record);
//   }; const MeanLoss mean{Loss{}, samples}; expect_near(from_sweep(graph, theta, samples),
//   by_nested_ceres<24>(mean, theta), 1e-13); expect_near(from_sweep(graph, theta, samples),
//   by_fifty_digits(mean, theta), 1e-13);
//
// Neither oracle shares a line with the tape: the first is Ceres' own arithmetic, the second takes
// central differences on 50-digit numbers and needs no derivative rule (but a smooth loss).
#pragma once

#include <utility>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "support/derivative_oracle.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope::test {

/// The mean over sample records of loss(theta, record).
template <typename Loss>
struct MeanLoss {
  Loss loss;
  SampleTable samples;

  template <typename T>
  T operator()(const Column<T>& theta) const {
    T total(0.0);
    for (Eigen::Index i = 0; i < samples.rows(); ++i) {
      total += loss(theta, samples.data() + i * samples.cols());
    }
    return total / T(static_cast<double>(samples.rows()));
  }
};

template <typename Loss>
MeanLoss(Loss, SampleTable) -> MeanLoss<Loss>;

/// By Jet<Jet<double, N>, N>, for at most N parameters.
template <int N>
Derivatives by_nested_ceres(const FunctionOn<NestedCeres<N>>& f, const Eigen::VectorXd& x) {
  EXPECT_LE(x.size(), N);
  ValueGradientHessian y = nested_ceres_derivatives<N>(f, x);
  return {y.value, std::move(y.gradient), std::move(y.hessian)};
}

/// By central differences of 50-digit numbers, good to some 20 digits where f is smooth.
Derivatives by_fifty_digits(const FunctionOn<Real50>& f, const Eigen::VectorXd& x);

/// T[u_k, v_k] by central differences of f on 50-digit numbers, good to some 18 digits where f is
/// smooth.
Eigen::MatrixXd third_derivatives_by_fifty_digits(const FunctionOn<Real50>& f,
                                                  const Eigen::VectorXd& x,
                                                  const Eigen::MatrixXd& u,
                                                  const Eigen::MatrixXd& v);

/// Derivatives along the lines x + t v_k, orders 0 to 4 in a column for each line, by central
/// differences of f on 50-digit numbers, good to some 16 digits where f is smooth.
Eigen::MatrixXd line_derivatives_by_fifty_digits(const FunctionOn<Real50>& f,
                                                 const Eigen::VectorXd& x,
                                                 const Eigen::MatrixXd& v);

}  // namespace hesscope::test
