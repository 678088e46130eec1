// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

/// "muon", momentum orthogonalised by a Newton-Schulz iteration. For a matrix G of the gradient and
/// X of the parameters, with momentum mu and weight decay lambda:
///   B <- mu B + G,   M = G + mu B with Nesterov momentum, else B
///   Y = M / (||M||_F + 1e-7), transposed where it has more rows than columns
///   five times: A = Y Y^T,   Y <- 3.4445 Y - (4.7750 A - 2.0315 A^2) Y
///   u = -(sqrt(max(1, rows / columns)) Y + lambda X)
/// Singular values of Y above 1e-2 end up between 0.68 and 1.14: Y is roughly the orthogonal factor
/// of M, the steepest descent for the spectral norm. The iteration runs in double precision, not in
/// bfloat16. A block of three dimensions is a stack of matrices in its last two dimensions; one of
/// more dimensions is a kernel, treated as the matrix (first, all others). Published code computes
/// rows / columns from a kernel's last two dimensions; here it is computed from that matrix.
///
/// If no prediction depends on a matrix, its gradient is pure rounding error. Divided by 1e-7 and
/// amplified up to 485 times, the update is still small, but arbitrary.
///
/// Vectors, numbers, and matrices named by `adam-blocks` (embeddings and last layers, as published)
/// use AdamW, with `adam-rate` times the learning rate: 0.015 is the published 3e-4 over 0.02.
///
/// The memory is momentum_buffer = B for matrices, exp_avg and exp_avg_sq for the others.
/// @source Jordan et al. (2024), Muon: an optimizer for hidden layers in neural networks,
///         https://kellerjordan.github.io/posts/muon, and the defaults of MuonWithAuxAdam there;
///         Bernstein & Newhouse (2024), arXiv 2409.20325, on the norm.
UpdateRuleKind muon_kind();

}  // namespace hesscope
