// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "adam", at step t = 1, 2, ... and entrywise:
///   d = g + lambda theta
///   m <- beta1 m + (1 - beta1) d,   v <- beta2 v + (1 - beta2) d^2
///   u = -(m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
/// epsilon is added outside the root, after the bias correction. If epsilon is 0, 0 / 0 counts as
/// 0; with beta1 = beta2 = 0 as well, this is sign descent for entries whose squares are in the
/// range of double: with epsilon = 0, an entry below 1e-162 has an infinite step. The memory is
/// exp_avg = m, exp_avg_sq = v.
/// @source Kingma & Ba (2015), arXiv 1412.6980, algorithm 1; torch.optim.Adam.
UpdateRuleKind adam_kind();

/// "adamw", Adam with the weight decay decoupled from the gradient instead of added to it:
///   d = g,   u as above - lambda theta.
/// @source Loshchilov & Hutter (2019), arXiv 1711.05101, algorithm 2; torch.optim.AdamW, which also
/// multiplies the decay by the learning rate.
UpdateRuleKind adamw_kind();

}  // namespace hesscope
