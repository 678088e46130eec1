// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Which nodes carry Jets forwards (active) and which have an adjoint (needed); active implies
/// needed.
struct SweepPlan {
  std::vector<std::uint8_t> active;
  std::vector<std::uint8_t> needed;
};

/// The plan for directions in the span of e_j, first_seeded <= j < end_seeded, and rows i >=
/// first_needed. Requires first_needed <= first_seeded.
SweepPlan plan_sweep(const Graph& graph,
                     Eigen::Index first_seeded,
                     Eigen::Index end_seeded,
                     Eigen::Index first_needed);

}  // namespace hesscope::detail
