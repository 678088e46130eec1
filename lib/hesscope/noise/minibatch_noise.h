// SPDX-License-Identifier: BSD-3-Clause
//
// How far minibatch gradients are from the gradient over all samples. With g_i the gradient over
// minibatch i and g that over all N samples, the noise is
//     ||g_i - g||_2,
// whose tail is studied by Ahn et al. (2023), arXiv:2310.01082, figure 3, and Kunstner et al.
// (2023), arXiv:2304.13960, figure 1.
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/noise/minibatches.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct MinibatchNoiseOptions {
  MinibatchSampling sampling = MinibatchSampling::kResampled;
  /// At least one, each at least 1, and at most N if disjoint. Averaging hides tails: ask for
  /// several.
  std::vector<Eigen::Index> batch_sizes = {1};
  Eigen::Index num_draws = 1000;  ///< at least 1; see num_minibatches
  std::uint64_t seed = 0;         ///< of resampled minibatches
  int num_threads = 0;            ///< as for Executor. Does not affect results.
};

/// Noise of minibatches of one size.
struct MinibatchNoise {
  Status status = Status::kNotComputed;  ///< kOk or kNonFinite
  Eigen::Index batch_size = 0;
  Eigen::VectorXd norms;  ///< in the order of the draws, unit of the gradient; empty without kOk
};

/// K: num_draws if resampled; at most floor(num_samples / batch_size) if disjoint.
/// @throws PreconditionError if an argument is out of its range.
Eigen::Index num_minibatches(MinibatchSampling sampling,
                             Eigen::Index num_samples,
                             Eigen::Index batch_size,
                             Eigen::Index num_draws);

/// Noise of K minibatches for each size, in the order of options.batch_sizes.
///
/// Minibatch i is resampled_minibatch(seed, i, batch_size, N) or, if disjoint, the samples [i
/// batch_size, (i + 1) batch_size); left-over samples that fill no minibatch still count in g. The
/// result for a size does not depend on the other sizes.
/// @throws PreconditionError if theta does not fit the objective or an option is out of its range.
///         Interrupted if the callback asks to stop.
/// @cost   resampled: one pass of per-sample gradients for all sizes together and n batch_size K
///         additions for each; memory n K and batch_size K / 2 numbers for each, and a block of at
///         most 4096 per-sample gradients. Disjoint: a gradient over all samples for each size;
///         memory n K numbers.
std::vector<MinibatchNoise> minibatch_noise(const Objective& objective,
                                            const Eigen::Ref<const Eigen::VectorXd>& theta,
                                            const MinibatchNoiseOptions& options = {},
                                            const ProgressCallback& progress = {});

}  // namespace hesscope
