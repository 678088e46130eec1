// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "adafactor": second moments of a matrix estimated from the sums of its rows and columns alone.
/// For a block G of the gradient and X of the parameters at step t = 1, 2, ...:
///   b = 1 - t^-c,   D = G^2 + epsilon1 entrywise
///   matrices   R <- b R + (1 - b) D 1,   C <- b C + (1 - b) 1^T D,   V = R C / (1^T R)
///   vectors    V <- b V + (1 - b) D
///   U = G / sqrt(V),   W = U / max(1, RMS(U) / d)
///   u = -max(epsilon2, RMS(X)) W,   or -W without scale-by-parameters
/// with RMS the root mean square of a whole block. A block of three or more dimensions is a stack
/// of matrices in its last two dimensions, and still one block for RMS. The paper's relative step
/// rho_t = min(0.01, 1 / sqrt(t)) is the learning rate. No momentum, as the paper recommends. The
/// memory is exp_avg_sq_row = R and exp_avg_sq_col = C for matrices, exp_avg_sq = V for vectors.
/// @source Shazeer & Stern (2018), arXiv 1804.04235, algorithms 4 and 5, and section 7.2 for b. The
/// sums are theirs; implementations that keep means have the same V.
UpdateRuleKind adafactor_kind();

}  // namespace hesscope
