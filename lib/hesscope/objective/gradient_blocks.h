// SPDX-License-Identifier: BSD-3-Clause
//
// Passes over per-sample gradients that never hold those of all samples.
#pragma once

#include <functional>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// Samples whose gradients are held at once: 64 to 4096, 32 MiB of them where that is in between,
/// and no more than there are. A function of the objective's sizes alone.
Eigen::Index gradient_block_size(const Objective& objective);

/// Calls body(gradients, samples) for consecutive blocks of `range`; gradients is n x
/// samples.size(). The same blocks for any number of threads.
void for_gradient_blocks(
    const Objective& objective,
    const Objective::ConstVectorRef& theta,
    SampleRange range,
    const std::function<void(Eigen::MatrixXd& gradients, SampleRange samples)>& body);

}  // namespace hesscope
