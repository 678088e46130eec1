// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/noise/minibatch_noise.h>
#include <hesscope/objective/fresh_samples.h>

namespace hesscope {

struct FreshMinibatchNoiseOptions {
  std::vector<Eigen::Index> batch_sizes = {1};  ///< at least one, each at least 1
  Eigen::Index num_draws = 1000;                ///< K, at least 1
  Eigen::Index reference_batches = 100;         ///< R, at least 1
  std::uint64_t seed = 0;
  int num_threads = 0;  ///< as for Executor. Does not affect results.
};

/// Noise ||g_i - g|| of K minibatches of new samples for each size B, in the order of
/// options.batch_sizes; g is the gradient over R B further samples. The error of g itself adds 1 /
/// R of a minibatch's variance.
///
/// Within (seed, Stream::kNoise), g uses the samples 0 ... R B - 1, and minibatch i = 0, 1, ...
/// uses (R + i) B ... (R + i + 1) B - 1. The result for a size does not depend on the other sizes,
/// but sizes share samples.
/// @throws PreconditionError if theta does not fit or an option is out of its range. Interrupted if
///         the callback asks to stop.
/// @cost   (R + K) B gradients of single samples, and drawing these; memory n numbers per thread:
///         neither samples nor gradients are kept.
/// @source Ahn et al. (2023), arXiv 2310.01082, figure 3, whose code has R = 100.
std::vector<MinibatchNoise> fresh_minibatch_noise(const FreshSamples& samples,
                                                  const Eigen::Ref<const Eigen::VectorXd>& theta,
                                                  const FreshMinibatchNoiseOptions& options = {},
                                                  const ProgressCallback& progress = {});

}  // namespace hesscope
