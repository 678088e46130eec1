// SPDX-License-Identifier: BSD-3-Clause
//
// The proof that no eigenvalue is missing among the outermost of a matrix.
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// A bound on the errors of the outermost eigenvalues found at one end, proved by one count, or
/// nothing where the count is another one.
/// @param  direction  1 for the largest eigenvalues, -1 for the smallest.
/// @param  values     the outermost first.
/// @param  d          at least the sum of the distance of the values from as many eigenvalues and
///                    of the counting band.
std::optional<double> counted_bound(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                    double direction,
                                    const Eigen::VectorXd& values,
                                    double d,
                                    const ProgressCallback& progress);

}  // namespace hesscope::detail
