// SPDX-License-Identifier: BSD-3-Clause
//
// How spectral figures of a Hessian converge as the number of samples grows: the sample compared
// with the population. The number of samples doubles from rung to rung, and each rung has the
// intervals of its own delete-one-block jackknife (sampling_error.h), whose blocks are unions of
// two blocks of the rung below: each sample is used once, and only the blocks' Hessians are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope {

/// The mean Hessian over samples first, ..., first + count - 1, n x n, symmetric.
using RangeHessian = std::function<Eigen::MatrixXd(
    std::int64_t first, std::int64_t count, const ProgressCallback& progress)>;

struct LadderRung {
  std::int64_t num_samples = 0;
  SamplingErrors errors;
  Status status = Status::kNotComputed;  ///< of the counts
  std::int64_t num_negative = -1;        ///< eigenvalues below the rounding band
  std::int64_t num_zero = -1;            ///< within it
};

/// Blocks per rung.
inline constexpr Eigen::Index kLadderBlocks = 32;

/// Sizes that double up to `num_samples`; the smallest is at least 1,000 and below 2,000, or
/// num_samples if that is less. All are rounded up so that kLadderBlocks divides the smallest.
/// @throws PreconditionError unless 1 <= num_samples <= 2^50.
std::vector<std::int64_t> sample_ladder(std::int64_t num_samples);

/// @param sizes  from sample_ladder().
/// @param level  of the intervals, in (0, 1).
/// @return a rung for each size.
/// @throws PreconditionError for a level out of its range, or sizes that do not double or are not
///         multiples of kLadderBlocks. Exceptions of `hessian` pass through.
/// @cost   one Hessian over sizes.back() samples in total; kLadderBlocks + 1 decompositions per
///         rung; kLadderBlocks + 3 n x n matrices.
std::vector<LadderRung> climb_sample_ladder(const std::vector<std::int64_t>& sizes,
                                            const RangeHessian& hessian,
                                            double level,
                                            const ProgressCallback& progress = {});

}  // namespace hesscope
