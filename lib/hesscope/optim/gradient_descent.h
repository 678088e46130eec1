// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "gd", gradient descent: u = -g.
UpdateRuleKind gd_kind();

/// "sgd", gradient descent with momentum mu, dampening tau and weight decay lambda:
///   d = g + lambda theta
///   b = d in the first step and where mu = 0, else b <- mu b + (1 - tau) d
///   u = -b, or -(d + mu b) with Nesterov momentum.
/// The memory is momentum_buffer = b.
/// @source torch.optim.SGD; the momentum is Polyak's, the Nesterov variant that of Sutskever et al.
/// (2013).
UpdateRuleKind sgd_kind();

}  // namespace hesscope
