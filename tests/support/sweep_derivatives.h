// SPDX-License-Identifier: BSD-3-Clause
//
// What the engine says about a loss, and how close it is to an oracle.
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

/// Derivatives of the mean over the samples by the graph engine, with `width` columns of the
/// Hessian, or of another curvature, at a time.
Derivatives from_sweep(const Graph& graph,
                       const Eigen::VectorXd& theta,
                       const SampleTable& samples,
                       int width = Sweep::kMaxDirections,
                       Curvature curvature = Curvature::kHessian);

/// T[u_k, v_k] of the mean over the samples by the graph engine, with `width` pairs at a time.
Eigen::MatrixXd third_derivatives_from_sweep(const Graph& graph,
                                             const Eigen::VectorXd& theta,
                                             const SampleTable& samples,
                                             const Eigen::MatrixXd& u,
                                             const Eigen::MatrixXd& v,
                                             int width = ThirdOrderSweep::kMaxPairs,
                                             InstructionSet set = best_instruction_set());

/// Derivatives of the mean over the samples along the lines theta + t v_k by the graph engine, with
/// `width` lines at a time: entry (p, k) has order p.
Eigen::MatrixXd line_derivatives_from_sweep(const Graph& graph,
                                            const Eigen::VectorXd& theta,
                                            const SampleTable& samples,
                                            const Eigen::MatrixXd& v,
                                            int width = LineSweep::kMaxLines,
                                            InstructionSet set = best_instruction_set());

/// Expects each column of T[u_k, v_k] within `tolerance` of its expected norm; the floor as below.
void expect_near_columns(const Eigen::MatrixXd& actual,
                         const Eigen::MatrixXd& expected,
                         double tolerance,
                         const std::string& oracle,
                         double floor = 1e-17);

/// The same for rows. The floor is the error of fourth differences of 50-digit numbers.
void expect_near_rows(const Eigen::MatrixXd& actual,
                      const Eigen::MatrixXd& expected,
                      double tolerance,
                      const std::string& oracle,
                      double floor = 1e-15);

/// Expects each derivative within `tolerance` of its expected norm. The floor allows for an
/// oracle's rounding of an exact zero.
void expect_near(const Derivatives& actual,
                 const Derivatives& expected,
                 double tolerance,
                 const std::string& oracle);

/// The same for one matrix.
void expect_near(const Eigen::MatrixXd& actual,
                 const Eigen::MatrixXd& expected,
                 double tolerance,
                 const std::string& oracle);

}  // namespace hesscope::test
