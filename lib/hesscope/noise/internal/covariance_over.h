// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/noise/gradient_covariance.h>

namespace hesscope::detail {

/// In total two samples or more, without overlaps.
using SampleRanges = std::vector<SampleRange>;

/// gradient_covariance() of only some samples, as if there were no others: large gradients of the
/// others cost no digits.
GradientCovariance covariance_over(const Objective& objective,
                                   const Eigen::Ref<const Eigen::VectorXd>& theta,
                                   const SampleRanges& ranges,
                                   const GradientCovarianceOptions& options,
                                   const ProgressCallback& progress = {});

/// The samples outside `block`.
SampleRanges samples_without(SampleRange block, Eigen::Index num_samples);

/// The number of samples in all ranges.
Eigen::Index num_samples_of(const SampleRanges& ranges);

}  // namespace hesscope::detail
