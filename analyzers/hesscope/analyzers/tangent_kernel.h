// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /tangent-kernel: extreme eigenvalues of K = J J^T, where J is the Jacobian of all samples'
/// predictions by the requested parameter tensors (all), and of the part K_b that each tensor b of
/// the model has: K = sum_b K_b. If lambda_min(K) > 0, every change of the predictions can be made,
/// to first order, by a change of the parameters, and no point at which the loss has a non-zero
/// derivative by the predictions is stationary.
///
/// For a mean of squared errors over N samples, |gradient|^2 >= (4 / N) lambda_min(K) loss.
/// @cost m + 1 gradients for m entries of a prediction, and a singular value decomposition of J,
///       N m x n, for the whole and for each tensor.
/// @source A. Jacot, F. Gabriel & C. Hongler (2018), Neural Tangent Kernel.
AnalyzerKind tangent_kernel_analyzer();

}  // namespace hesscope
