// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "muon", momentum orthogonalised by Newton and Schulz's iteration. For a matrix G of the gradient
/// and X of the parameters, with momentum mu and weight decay lambda:
///   B <- mu B + G,   M = G + mu B with Nesterov's momentum, else B
///   Y = M / (||M||_F + 1e-7), transposed where it has more rows than columns
///   five times: A = Y Y^T,   Y <- 3.4445 Y - (4.7750 A - 2.0315 A^2) Y
///   u = -(sqrt(max(1, rows / columns)) Y + lambda X)
/// Singular values of Y from 1e-2 on come to lie between 0.68 and 1.14: Y is roughly the orthogonal
/// factor of M, the steepest descent for the spectral norm. The iteration runs in double precision,
/// not in bfloat16. A block of three dimensions is a stack of matrices in its last two; one of more
/// is a kernel, the matrix (first, all others). Published code takes the ratio of a kernel's last
/// two dimensions for rows / columns; here it is that of the matrix.
///
/// Of a matrix that no prediction depends on the gradient is rounding, and the update that over
/// 1e-7, up to 485 times: small, and arbitrary.
///
/// Vectors, numbers, and matrices that `adam-blocks` names (embeddings and last layers, as
/// published) are AdamW's, with `adam-rate` times the learning rate: 0.015 is the published 3e-4
/// over 0.02.
///
/// The memory is momentum_buffer = B of matrices, exp_avg and exp_avg_sq of the others.
/// @source Jordan et al. (2024), Muon: an optimizer for hidden layers in neural networks,
///         https://kellerjordan.github.io/posts/muon, and the defaults of MuonWithAuxAdam there;
///         Bernstein & Newhouse (2024), arXiv 2409.20325, on the norm.
UpdateRuleKind muon_kind();

}  // namespace hesscope
