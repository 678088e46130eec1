// SPDX-License-Identifier: BSD-3-Clause
//
// A faster way to the full Gauss-Newton matrix where predictions have few entries: the Jacobians
// J_i, m rows each, by m reverse sweeps, and sum_i J_i^T (L_i J_i) as one product of matrices with
// samples and entries of the prediction together as inner dimension. The generic sweep of all
// columns stays its definition and its test.
#pragma once

#include <functional>

#include <Eigen/Core>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// Whether that is faster than the generic sweep, as far as the graph tells. False without a
/// prediction.
bool factors_pay(const Graph& graph);

/// Does Sweep::gauss_newton_factors for at most Sweep::kPackSamples records. Called concurrently.
using FillFactors = std::function<void(Records records, GaussNewtonFactors out)>;

/// g = mean over the records of J^T L J: n x n, symmetric to the last bit, and the same to the last
/// bit for any number of the executor's threads.
/// @returns whether all of g is finite.
/// @throws Interrupted as `progress` and the executor say.
/// @cost the factors, and m n^2 / 2 multiplications per sample; memory besides g: some 16 KiB times
///       n (more where m exceeds 128), and per thread half a MiB.
bool gauss_newton_mean(const Graph& graph,
                       Records records,
                       const FillFactors& fill,
                       const Executor& executor,
                       InstructionSet set,
                       const ProgressCallback& progress,
                       Eigen::Ref<Eigen::MatrixXd> g);

}  // namespace hesscope::detail
