// SPDX-License-Identifier: BSD-3-Clause
//
// Descent along a normalised gradient N(g), with one of two kinds of momentum mu:
//   of the gradient   b <- mu b + g,     u = -N(b)
//   of the direction  b <- mu b + N(g),  u = -b.
// b starts at zero and is the memory, momentum_buffer. N(0) = 0.
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "sign", sign descent: N(g) = sign(g) entrywise, or with magnitude = "l1" the steepest descent
/// for the maximum norm, N(g) = ||g||_1 sign(g).
/// @source Bernstein et al. (2018), signSGD, arXiv 1802.04434 (Signum has momentum of the
///         gradient); Kunstner et al. (2023), arXiv 2304.13960 (momentum of the direction).
UpdateRuleKind sign_kind();

/// "normalized", normalised gradient descent: N(g) = g / ||g||_2, with the norm of
///   all        the whole gradient,
///   block      each parameter block on its own,
///   block-rms  the same, divided by the square root of the block's size.
/// @source Kunstner et al. (2023), arXiv 2304.13960 (all; block, there with the 1-norm); Pan & Li
///         (2023), arXiv 2306.00204 (block-rms).
UpdateRuleKind normalized_kind();

}  // namespace hesscope
