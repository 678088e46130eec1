// SPDX-License-Identifier: BSD-3-Clause
//
// The optimiser of a running training, as a checkpoint would hold it, with its settings.
#pragma once

#include <span>
#include <vector>

#include <hesscope/core/parameter_block.h>
#include <hesscope/optim/training_run.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope::detail {

/// @param trained  for each block, whether it is trained.
/// @return kind kUnknown if the rule's update is not a step by P^-1 of gradients and their
///         averages; without second moments before the first step.
OptimizerState optimizer_of(const TrainingRun& training,
                            std::span<const ParameterBlock> blocks,
                            const std::vector<bool>& trained);

}  // namespace hesscope::detail
