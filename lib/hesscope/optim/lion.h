// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "lion", the sign of an interpolation between an average and the gradient:
///   u = -(sign(beta1 m + (1 - beta1) g) + lambda theta),   then m <- beta2 m + (1 - beta2) g.
/// The memory is exp_avg = m.
/// @source Chen et al. (2023), Symbolic discovery of optimization algorithms, arXiv 2302.06675,
///         algorithm 2.
UpdateRuleKind lion_kind();

}  // namespace hesscope
