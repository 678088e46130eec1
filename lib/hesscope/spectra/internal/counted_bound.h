// SPDX-License-Identifier: BSD-3-Clause
//
// Proves that no eigenvalue is missing among the outermost of a matrix.
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// A bound on the errors of the outermost eigenvalues found at one end, proved by a count, or
/// nothing if the count differs.
/// @param  direction  1 for the largest eigenvalues, -1 for the smallest.
/// @param  values     the outermost first.
/// @param  d          at least the distance of the values from as many eigenvalues plus the
///                    counting band.
std::optional<double> counted_bound(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                    double direction,
                                    const Eigen::VectorXd& values,
                                    double d,
                                    const ProgressCallback& progress);

}  // namespace hesscope::detail
