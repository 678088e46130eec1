// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Shortens a gradient whose Euclidean norm, over all parameters together, exceeds `max_norm`:
///   g min(1, max_norm / (||g|| + 1e-6)).
/// The 1e-6 is PyTorch's: norms just below max_norm are also shortened by about a millionth. A
/// gradient that contains NaN becomes all NaN.
/// @throws PreconditionError unless max_norm > 0.
/// @source torch.nn.utils.clip_grad_norm_.
Eigen::VectorXd clip_norm(const Eigen::Ref<const Eigen::VectorXd>& gradient, double max_norm);

/// The magnitude that at most a fraction `fraction` of the n values exceeds: entry floor(fraction
/// n), from 0, of the magnitudes in descending order. NaN if a value is NaN.
/// @throws PreconditionError unless 0 <= fraction < 1 and there is a value.
/// @source Pan & Li (2023), arXiv 2306.00204, and its code.
double coordinate_threshold(const Eigen::Ref<const Eigen::VectorXd>& values, double fraction);

/// Sets values above coordinate_threshold() in magnitude to it, keeping their signs. The fraction 0
/// changes nothing; if a value is NaN, all become NaN. Works for gradients and for updates.
/// @throws PreconditionError as coordinate_threshold().
Eigen::VectorXd clip_coordinates(const Eigen::Ref<const Eigen::VectorXd>& values, double fraction);

}  // namespace hesscope
