// SPDX-License-Identifier: BSD-3-Clause
//
// Families of units by where they lie in tensors. Whether they may be exchanged is not looked at.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <hesscope/core/parameter_block.h>
#include <hesscope/objective/internal/unit_views.h>
#include <hesscope/objective/unit_search.h>

namespace hesscope::detail {

/// Those that all these views see, each on an axis.
InterchangeableUnits units_on(std::span<const UnitView* const> views);

/// Units that are tensors of their own, for each place of a number in names, as that of the head in
/// "layers.0.heads.1.P": the tensors whose names differ there alone, an axis for each name behind
/// it, where all numbers have the same names and shapes.
std::vector<InterchangeableUnits> numbered_units(std::span<const ParameterBlock> blocks);

/// Units that are alone in their layer and may change their sign: the smallest sets of tensors with
/// an axis of one entry whose signs may change together, as the predicate has it. None where more
/// than 10 tensors have such an axis: all sets are tried.
std::vector<InterchangeableUnits> single_units(
    std::span<const ParameterBlock> blocks,
    const std::function<bool(const InterchangeableUnits&)>& may_change_sign);

}  // namespace hesscope::detail
