// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Which column each row gets, so that no two rows get the same and the sum of the costs is least.
///
/// By shortest augmenting paths, row after row, with dual prices that keep all reduced costs at
/// least 0: the result is optimal, not only better than its neighbours.
/// @param  cost  m x n with m <= n, finite.
/// @return m different columns. Of assignments that cost the same, one that depends on `cost`
///         alone.
/// @throws PreconditionError for more rows than columns, and for costs that are not finite.
/// @cost   O(m^2 n).
/// @source H. W. Kuhn (1955), Naval Research Logistics Quarterly 2, 83-97; R. Jonker & A. Volgenant
///         (1987), Computing 38, 325-340.
std::vector<Eigen::Index> least_assignment(const Eigen::Ref<const Eigen::MatrixXd>& cost);

}  // namespace hesscope
