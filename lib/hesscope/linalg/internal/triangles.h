// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/executor.h>

namespace hesscope::detail {

/// Where the entries of a symmetric matrix were accumulated: in one triangle, or partly in either.
enum class Triangle { kLower, kUpper, kBoth };

/// Makes h symmetric, equal to `factor` times what was accumulated. The diagonal counts once.
/// @returns whether all of h is finite.
bool fill_triangles(const Executor& executor,
                    Triangle from,
                    double factor,
                    Eigen::Ref<Eigen::MatrixXd> h);

}  // namespace hesscope::detail
