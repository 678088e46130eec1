// SPDX-License-Identifier: BSD-3-Clause
//
// How eigenvalues are distributed, whether they are known or estimated.
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A probability measure on finitely many numbers: of the eigenvalues of H, n x n, that which gives
/// each a weight of 1/n, or an estimate of it.
struct SpectralMeasure {
  Eigen::VectorXd nodes;    ///< ascending, in the unit of H
  Eigen::VectorXd weights;  ///< of each node; not negative, of sum 1
};

/// The measure with a weight of 1/n on each eigenvalue.
/// @param  eigenvalues  n >= 1 finite numbers in any order.
/// @throws PreconditionError if there are none or one is not finite.
SpectralMeasure exact_measure(const Eigen::Ref<const Eigen::VectorXd>& eigenvalues);

namespace detail {

/// @throws PreconditionError naming `function` unless `measure` is one: finite ascending nodes, at
///         least one, and as many weights, not negative and of sum 1 to within 1e-8.
void require_measure(const char* function, const SpectralMeasure& measure);

}  // namespace detail
}  // namespace hesscope
