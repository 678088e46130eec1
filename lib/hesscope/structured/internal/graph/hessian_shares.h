// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks of a team divide one Hessian.
//
// A column of H belongs to one rank, which computes everything that is added to it, in the order in
// which a single process does: the column is identical to the last bit. Work that also contributes
// to another rank's column is done by both. Columns of one unit's inputs stay together, so that
// usually the tangents of a direction are computed by one rank only.
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

/// The part of the stages that a rank computes.
std::vector<Stage> stages_of(const GraphPlan& plan,
                             std::span<const Stage> stages,
                             std::span<const int> owners,
                             int rank);

}  // namespace hesscope::detail
