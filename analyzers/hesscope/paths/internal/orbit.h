// SPDX-License-Identifier: BSD-3-Clause
//
// The continuous half of an alignment: flows of affine generators.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/invariance.h>
#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// The solution of theta' = sum_k t_k u_k(theta) at time 1: exp of an affine map, by its series,
/// with enough halvings to be exact to rounding. NaN if it is not finite.
Eigen::VectorXd flowed(std::span<const AffineGenerator> generators,
                       const Eigen::Ref<const Eigen::VectorXd>& times,
                       Eigen::VectorXd theta);

/// The point of theta's orbit under the generators that is nearest to `reference`: a minimum of the
/// distance, by damped Newton steps from theta, which converge quadratically. With u_k = B_k theta
/// + b_k and the residual r = reference - theta, the squared distance has the slopes -2 U^T r by
/// the times t and the second derivatives 2 (U^T U - sym(W^T U)), where W has the columns B_k^T r.
/// Returns theta if there are no generators.
Eigen::VectorXd nearest_on_orbit(std::span<const AffineGenerator> generators,
                                 const Eigen::Ref<const Eigen::VectorXd>& reference,
                                 Eigen::VectorXd theta,
                                 const ProgressCallback& progress);

}  // namespace hesscope::detail
