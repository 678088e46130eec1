// SPDX-License-Identifier: BSD-3-Clause
//
// What rounding of the parameters makes of a gradient.
#pragma once

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// PointAnalysis::gradient_by_rounded_parameters() where H is not assembled: estimated by products
/// with random vectors, the same ones at every point. Not finite where H is not.
/// @cost four Hessian-vector products.
Eigen::VectorXd estimated_by_rounded_parameters(const Objective& objective,
                                                const Eigen::VectorXd& theta);

}  // namespace hesscope::detail
