// SPDX-License-Identifier: BSD-3-Clause
//
// What the engine says about a loss, and how near it is to what an oracle says.
#pragma once

#include <string>

#include <Eigen/Core>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/line_sweep.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/third_order_sweep.h>
#include <hesscope/objective/objective.h>

#include "support/numbers.h"

namespace hesscope::test {

struct Derivatives {
  double value;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

Derivatives from_objective(const Objective& objective, const Eigen::VectorXd& theta);

/// The mean over the samples by the graph engine, `width` columns of the Hessian or of another
/// curvature at a time.
Derivatives from_sweep(const Graph& graph,
                       const Eigen::VectorXd& theta,
                       const SampleTable& samples,
                       int width = Sweep::kMaxDirections,
                       Curvature curvature = Curvature::kHessian);

/// T[u_k, v_k] of the mean over the samples by the graph engine, `width` pairs at a time.
Eigen::MatrixXd third_derivatives_from_sweep(const Graph& graph,
                                             const Eigen::VectorXd& theta,
                                             const SampleTable& samples,
                                             const Eigen::MatrixXd& u,
                                             const Eigen::MatrixXd& v,
                                             int width = ThirdOrderSweep::kMaxPairs,
                                             InstructionSet set = best_instruction_set());

/// Derivatives along the lines theta + t v_k of the mean over the samples by the graph engine,
/// `width` lines at a time: entry (p, k) is of order p.
Eigen::MatrixXd line_derivatives_from_sweep(const Graph& graph,
                                            const Eigen::VectorXd& theta,
                                            const SampleTable& samples,
                                            const Eigen::MatrixXd& v,
                                            int width = LineSweep::kMaxLines,
                                            InstructionSet set = best_instruction_set());

/// Columns of T[u_k, v_k], each within `tolerance` of its expected norm; the floor as below.
void expect_near_columns(const Eigen::MatrixXd& actual,
                         const Eigen::MatrixXd& expected,
                         double tolerance,
                         const std::string& oracle,
                         double floor = 1e-17);

/// The same of rows. The floor is what fourth differences of 50-digit numbers leave.
void expect_near_rows(const Eigen::MatrixXd& actual,
                      const Eigen::MatrixXd& expected,
                      double tolerance,
                      const std::string& oracle,
                      double floor = 1e-15);

/// Each within `tolerance` of its expected norm. The floor lets an oracle's rounding of an exact
/// zero pass.
void expect_near(const Derivatives& actual,
                 const Derivatives& expected,
                 double tolerance,
                 const std::string& oracle);

/// The same of one matrix.
void expect_near(const Eigen::MatrixXd& actual,
                 const Eigen::MatrixXd& expected,
                 double tolerance,
                 const std::string& oracle);

}  // namespace hesscope::test
