// SPDX-License-Identifier: BSD-3-Clause
//
// The optimiser of a run under way, as a checkpoint would hold it with its settings.
#pragma once

#include <span>
#include <vector>

#include <hesscope/core/parameter_block.h>
#include <hesscope/optim/training_run.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope::detail {

/// @param trained  of each block, whether it is.
/// @return of kind kUnknown for a rule whose update is no step by P^-1 of gradients and their
///         averages; without second moments before the first step.
OptimizerState optimizer_of(const TrainingRun& training,
                            std::span<const ParameterBlock> blocks,
                            const std::vector<bool>& trained);

}  // namespace hesscope::detail
