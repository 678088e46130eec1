// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/noise/gradient_covariance.h>

namespace hesscope::detail {

/// Together two samples or more, without overlaps.
using SampleRanges = std::vector<SampleRange>;

/// gradient_covariance() of some samples alone, as if there were no others: large gradients of
/// those cost no digits.
GradientCovariance covariance_over(const Objective& objective,
                                   const Eigen::Ref<const Eigen::VectorXd>& theta,
                                   const SampleRanges& ranges,
                                   const GradientCovarianceOptions& options,
                                   const ProgressCallback& progress = {});

/// The samples outside of `block`.
SampleRanges samples_without(SampleRange block, Eigen::Index num_samples);

/// Of the samples of all ranges.
Eigen::Index num_samples_of(const SampleRanges& ranges);

}  // namespace hesscope::detail
