// SPDX-License-Identifier: BSD-3-Clause
//
// The oracle: the same recorded graph on 50-digit numbers, rounded to double at the very end.
// Elsewhere, "exact" means equal to this up to rounding.
#pragma once

#include <span>

#include <Eigen/Core>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope {

/// Value, gradient and Hessian (or Gauss-Newton matrix, if asked for) of the mean loss, each
/// correctly rounded from a 50-digit computation.
struct MultiprecisionDerivatives {
  double value;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// Evaluates the mean loss of the samples at theta, and its derivatives, in 50-digit arithmetic.
///
/// The inputs are taken as the exact values of the given doubles.
/// @throws PreconditionError if theta's size does not fit the graph, there is no sample, or the
///         Gauss-Newton matrix is asked for and the graph has no prediction.
/// @cost   about a thousand times the double-precision Hessian on one thread: for tests and spot
/// checks.
MultiprecisionDerivatives multiprecision_derivatives(const Graph& graph,
                                                     std::span<const double> theta,
                                                     Records records,
                                                     Curvature curvature = Curvature::kHessian);

/// T[u_k, v_k] of the mean loss for the columns of U and V (third_order_sweep.h), by central
/// differences of H v along u in 50-digit arithmetic: good to some 30 digits where the loss is
/// smooth, and without any third derivative.
/// @throws PreconditionError as above.
Eigen::MatrixXd multiprecision_third_derivative_times(const Graph& graph,
                                                      std::span<const double> theta,
                                                      Records records,
                                                      const Eigen::MatrixXd& u,
                                                      const Eigen::MatrixXd& v);

/// Derivatives of the mean loss along the lines theta + t v_k, orders 0 to 4 in a column for each
/// line, by central differences of the loss in 50-digit arithmetic: good to some 16 digits where it
/// is smooth within 1e-7 of theta, and without any derivative rule.
/// @throws PreconditionError as above.
Eigen::MatrixXd multiprecision_line_derivatives(const Graph& graph,
                                                std::span<const double> theta,
                                                Records records,
                                                const Eigen::MatrixXd& v);

}  // namespace hesscope
