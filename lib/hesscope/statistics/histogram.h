// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>

namespace hesscope {

/// Counts in bins of equal width, as from numpy.histogram.
struct Histogram {
  Status status = Status::kNotComputed;
  Eigen::VectorXd edges;    ///< num_bins + 1, ascending, in the unit of the values
  Eigen::VectorXd counts;   ///< num_bins whole numbers; their sum is the number of values
  Eigen::VectorXd density;  ///< counts over their sum and the widths of the bins; its integral is 1
};

/// Bins of equal width from the smallest to the largest value. A bin includes its left edge but not
/// its right one; the last includes both. If all values are equal, the bins extend from 1/2 below
/// to 1/2 above them.
/// @param  values  at least one.
/// @param  num_bins  at least 1.
/// @return status kOk; kNonFinite, and nothing else, if a value, the distance between the outermost
///         values or a density is not finite; kFailed if the bins are too narrow for their edges to
///         differ.
/// @throws PreconditionError without values or bins.
Histogram histogram(const Eigen::Ref<const Eigen::VectorXd>& values, Eigen::Index num_bins);

}  // namespace hesscope
