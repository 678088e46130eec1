// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Assigns a different column to each row so that the sum of the costs is minimal.
///
/// Uses shortest augmenting paths, row by row, with dual prices that keep all reduced costs
/// nonnegative; the result is globally optimal.
/// @param  cost  m x n with m <= n, finite.
/// @return m different columns. Among assignments of equal cost, the choice depends on `cost`
///         alone.
/// @throws PreconditionError for more rows than columns, and for costs that are not finite.
/// @cost   O(m^2 n).
/// @source H. W. Kuhn (1955), Naval Research Logistics Quarterly 2, 83-97; R. Jonker & A. Volgenant
///         (1987), Computing 38, 325-340.
std::vector<Eigen::Index> least_assignment(const Eigen::Ref<const Eigen::MatrixXd>& cost);

}  // namespace hesscope
