// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// A point near theta without what may be special about theta: theta_i + step s_i x_i, with x_i
/// standard normal and s_i the root mean square of i's tensor, that of all of theta where the
/// tensor's is at most 1e-8 of it, and 1 where that of all is at most 1e-8.
Eigen::VectorXd nearby_point(const Objective& objective,
                             const Eigen::VectorXd& theta,
                             double step,
                             std::mt19937_64& engine);

}  // namespace hesscope::detail
