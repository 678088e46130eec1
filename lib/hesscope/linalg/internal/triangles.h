// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/executor.h>

namespace hesscope::detail {

/// Where the entries of a symmetric matrix were added up: in one triangle, or in part in each of
/// both.
enum class Triangle { kLower, kUpper, kBoth };

/// Makes h symmetric, factor times what was added up. The diagonal counts once.
/// @returns whether all of h is finite.
bool fill_triangles(const Executor& executor,
                    Triangle from,
                    double factor,
                    Eigen::Ref<Eigen::MatrixXd> h);

}  // namespace hesscope::detail
