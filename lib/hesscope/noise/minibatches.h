// SPDX-License-Identifier: BSD-3-Clause
//
// Which samples belong to a minibatch.
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

enum class MinibatchSampling : std::int8_t {
  kResampled,  ///< each sample of each minibatch drawn from the whole data set, with replacement
  kDisjoint,   ///< consecutive ranges of the data set: fresh minibatches of a large one
};

/// Minibatch number `draw` of `batch_size` samples, each drawn uniformly from [0, num_samples) with
/// replacement; ascending, with repetitions.
///
/// The result depends on the arguments alone, on every platform: the numbers come from
/// std::mt19937_64 seeded with std::seed_seq of the 32-bit halves (low ones first) of `seed`,
/// `batch_size` and `draw`. Numbers not below the largest multiple of num_samples are skipped, so
/// that all samples are equally likely.
/// @param  num_samples  1 .. 2^32 - 1.
/// @param  batch_size  at least 1.
/// @param  draw  at least 0.
/// @throws PreconditionError if an argument is out of its range.
/// @cost   a sort.
std::vector<std::uint32_t> resampled_minibatch(std::uint64_t seed,
                                               Eigen::Index draw,
                                               Eigen::Index batch_size,
                                               Eigen::Index num_samples);

}  // namespace hesscope
