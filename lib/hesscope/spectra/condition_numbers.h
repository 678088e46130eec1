// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/core/status.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// A ratio that may be undefined.
struct ConditionNumber {
  double value;  ///< NaN unless status is kOk
  Status status;
};

/// The condition numbers in use for neural network Hessians.
struct ConditionNumbers {
  /// max_i |H_ii| / lower median_i |H_ii|.
  /// @source Jiang et al., arXiv 2211.02254; Ahn et al., arXiv 2310.01082, figure 4.
  ConditionNumber robust_diagonal;
  ConditionNumber robust_eigenvalue;  ///< lambda_max / lambda_median (lower median)
  ConditionNumber robust_absolute;    ///< max |lambda| / lower median |lambda|
  ConditionNumber classical;  ///< lambda_max / lambda_min where lambda_min is above rounding
};

/// largest / median; undefined, NaN with the status kUndefinedZeroMedian, unless |median| is above
/// the rounding band. kNonFinite if the ratio is not finite.
ConditionNumber robust_ratio(double largest, double median, double rounding_band);

/// A denominator within the rounding band is zero: the ratio is then undefined, NaN with the status
/// kUndefinedZeroMedian (or kUndefinedNotPositiveDefinite), never a huge number.
/// @param spectrum  of the matrix whose diagonal is given. Where its status is not kOk, every
///                  number has that status.
ConditionNumbers condition_numbers(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                                   const Spectrum& spectrum);

}  // namespace hesscope
