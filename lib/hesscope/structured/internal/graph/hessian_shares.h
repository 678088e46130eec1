// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks of a team share one Hessian.
//
// A column of H belongs to one rank, which does all that adds to it, in the order in which one
// process does it: the column is the same to the last bit. What also adds to another's column is
// done by both. Columns of one unit's inputs go together, so that tangents of one direction are
// swept by one rank, mostly.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/structured/internal/graph/graph_plan.h>
#include <hesscope/structured/internal/graph/hessian_sum.h>

namespace hesscope::detail {

/// The rank of each column; shares of about equal work.
std::vector<int> owners_of_columns(const GraphPlan& plan,
                                   std::span<const Stage> stages,
                                   Eigen::Index num_parameters,
                                   int num_ranks);

/// What of the stages a rank does.
std::vector<Stage> stages_of(const GraphPlan& plan,
                             std::span<const Stage> stages,
                             std::span<const int> owners,
                             int rank);

}  // namespace hesscope::detail
