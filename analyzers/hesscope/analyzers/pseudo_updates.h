// SPDX-License-Identifier: BSD-3-Clause
//
// The updates that other optimisers would make on a trajectory.
#pragma once

#include <array>
#include <string_view>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/eigen.h>

namespace hesscope {

/// Gradient descent; with momentum 0.9; Adam (0.9, 0.999, 1e-8); Lion (0.9, 0.99); sign descent.
inline constexpr std::array<std::string_view, 5> kPseudoRuleNames = {
    "sgd", "momentum", "adam", "lion", "sign"};

/// Which of them remember earlier gradients.
inline constexpr std::array<bool, 5> kHasPseudoRuleMemory = {false, true, true, true, false};

/// The updates at a point, without learning rates, as the columns of an n x 5 matrix. Every rule
/// keeps its own memory and receives the gradients over all samples at the checkpoints of the
/// point's trajectory up to this one, each once and in order, with 0 for entries up to
/// PointAnalysis::gradient_rounding() there, or up to what rounding of the parameters makes of them
/// by an estimate that is the same for every method; checkpoints that are not finite are skipped.
/// Only at a point whose status() is kOk.
/// @cost   a gradient, a pass of per-sample gradients and four Hessian-vector products for this
///         checkpoint and each earlier one that was not seen yet.
/// @source Pan & Li (2023), arXiv 2306.00204, section 3 (pseudo-updates) and its settings.
Eigen::MatrixXd pseudo_updates(PointAnalysis& point);

}  // namespace hesscope
