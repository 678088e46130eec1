// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// The condition numbers in use for neural network Hessians.
struct ConditionNumbers {
  /// max_i |H_ii| / lower median_i |H_ii|.
  /// @source Jiang et al., arXiv 2211.02254; Ahn et al., arXiv 2310.01082, figure 4.
  Statistic robust_diagonal;
  Statistic robust_eigenvalue;  ///< lambda_max / lambda_median (lower median)
  Statistic robust_absolute;    ///< max |lambda| / lower median |lambda|
  Statistic classical;          ///< lambda_max / lambda_min if lambda_min is above rounding
};

/// largest / median. If |median| does not exceed the rounding band, the ratio is undefined: NaN
/// with status kUndefinedZeroMedian. kNonFinite if the ratio is not finite.
Statistic robust_ratio(double largest, double median, double rounding_band);

/// A denominator within the rounding band counts as zero: the ratio is then undefined, NaN with the
/// status kUndefinedZeroMedian (or kUndefinedNotPositiveDefinite), never a huge number.
/// @param spectrum  of the matrix with that diagonal. If its status is not kOk, every number has
///                  that status.
/// @throws PreconditionError if the status is kOk and the diagonal is empty, or its size differs
///         from the number of eigenvalues.
ConditionNumbers condition_numbers(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                                   const Spectrum& spectrum);

}  // namespace hesscope
