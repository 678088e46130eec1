// SPDX-License-Identifier: BSD-3-Clause
//
// The distribution of eigenvalues, known or estimated.
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A probability measure on finitely many numbers: for the eigenvalues of H, n x n, the one with
/// weight 1/n on each, or an estimate of it.
struct SpectralMeasure {
  Eigen::VectorXd nodes;    ///< ascending, in the unit of H
  Eigen::VectorXd weights;  ///< of each node; nonnegative, with sum 1
};

/// The measure with a weight of 1/n on each eigenvalue.
/// @param  eigenvalues  n >= 1 finite numbers in any order.
/// @throws PreconditionError if there are none or one is not finite.
SpectralMeasure exact_measure(const Eigen::Ref<const Eigen::VectorXd>& eigenvalues);

namespace detail {

/// @throws PreconditionError naming `function` unless `measure` is one: finite ascending nodes, at
///         least one, and as many weights, nonnegative and with sum 1 to within 1e-8.
void require_measure(const char* function, const SpectralMeasure& measure);

}  // namespace detail
}  // namespace hesscope
