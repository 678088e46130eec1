// SPDX-License-Identifier: BSD-3-Clause
//
// Steps that have no direction but that of rounding.
#pragma once

#include <Eigen/Core>

#include <hesscope/analyzers/point_analysis.h>

namespace hesscope::detail {

/// The distance up to which points between these two are equal within rounding: 2 eps times the
/// larger norm. An average is rounded to within eps of the larger end, and to 2 eps in norms.
double rounding_between(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

/// Whether the step to `next`, an update or several, is only rounding: not longer than
/// rounding_between() its ends or, for gradient descent without momentum, than the learning rate
/// times a gradient that counts as zero. Only at a point whose status() is kOk.
/// @cost as PointAnalysis::is_gradient_zero().
bool is_step_rounding(PointAnalysis& point, const Eigen::VectorXd& next);

/// The step to `next`; zero if it is only rounding.
Eigen::VectorXd step_without_rounding(PointAnalysis& point, const Eigen::VectorXd& next);

/// For definitions of what depends on the direction of a step.
inline constexpr char kStepRoundingInWords[] =
    "; undefined where the step is only rounding: not longer than 2 eps times the larger |theta| "
    "at its ends or, for gradient descent without momentum, than learning_rate times the larger of "
    "16 eps sqrt(tr S + |g|^2) and 16 eps ||H diag(theta)||_F, with S the covariance of the "
    "samples' gradients";

}  // namespace hesscope::detail
