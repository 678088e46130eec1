// SPDX-License-Identifier: BSD-3-Clause
//
// Passes over per-sample gradients that never hold those of all samples.
#pragma once

#include <functional>

#include <Eigen/Core>

#include <hesscope/core/executor.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Samples whose gradients are held at once: 64 to 4096, 32 MiB of them where that is in between.
/// A function of n alone.
Eigen::Index gradient_block_size(Eigen::Index num_parameters);

/// Calls body(gradients, samples) for consecutive blocks of `range`; gradients is n x
/// samples.size().
void for_gradient_blocks(
    const Objective& objective,
    const Objective::ConstVectorRef& theta,
    SampleRange range,
    const std::function<void(Eigen::MatrixXd& gradients, SampleRange samples)>& body);

/// sum += D D^T, both triangles, on threads.
void add_outer_products(const Eigen::MatrixXd& d, Eigen::MatrixXd& sum, const Executor& executor);

}  // namespace hesscope::detail
