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
  Statistic classical;          ///< lambda_max / lambda_min where lambda_min is above rounding
};

/// largest / median; undefined, NaN with the status kUndefinedZeroMedian, unless |median| is above
/// the rounding band. kNonFinite if the ratio is not finite.
Statistic robust_ratio(double largest, double median, double rounding_band);

/// A denominator within the rounding band is zero: the ratio is then undefined, NaN with the status
/// kUndefinedZeroMedian (or kUndefinedNotPositiveDefinite), never a huge number.
/// @param spectrum  of the matrix whose diagonal is given. Where its status is not kOk, every
///                  number has that status.
/// @throws PreconditionError where it is kOk and the diagonal is empty, or its size another than
///         the number of eigenvalues.
ConditionNumbers condition_numbers(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                                   const Spectrum& spectrum);

}  // namespace hesscope
