// SPDX-License-Identifier: BSD-3-Clause
//
// The calls of objectives that ranks share (core/team.h). On the first rank a GraphObjective with a
// team says to the others what is asked of it; they make the same call of their own, which must be
// of the same model and samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <hesscope/core/team.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// This rank's objective of a number, GraphObjective::Options::team_number of the first rank's.
using ServedObjective = std::function<std::shared_ptr<const Objective>(std::int64_t number)>;

/// What a rank does where the first one calls with_ranks() of this objective.
using ServedTask = std::function<void(
    const Objective& objective, const Objective::Vector& theta, SampleRange range)>;

/// What the ranks other than the first do, after Team::begin(): the calls that the first one makes,
/// until it calls end_service(). What a call throws is the first rank's to report.
void serve(Team& team, const ServedObjective& objective_of, const ServedTask& task = {});

/// On the first rank: serve() returns on the others.
void end_service(Team& team);

}  // namespace hesscope
