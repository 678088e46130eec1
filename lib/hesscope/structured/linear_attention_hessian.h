// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of linear attention on linear regression (models/linear_attention.h), using its
// structure.
//
// A layer depends on its prompt only through the state x_l = (S_l, q_l), where S is symmetric e x e
// and e = d + 1. With A_l = I + P_l S_l Q_l / n, the next state is S_{l+1} = A_l S_l A_l^T and
// q_{l+1} = A_l q_l. The prediction is f = -[q_L]_e, the loss (f - t)^2, and its Hessian 2 (grad
// f)(grad f)^T + 2 (f - t) d2 f. d2 f is computed as follows:
//
// 1. Backwards through the layers, V_l = d2 f / dx_l dx_l follows from V_{l+1} (s x s, s = e(e +
//    1)/2 + e). At each layer l this also gives M = d2 f / dA dA at a fixed state and d2 f / d(P,
//    Q) dx_l.
// 2. Rows of H within layer l are M with both sides lifted from A to P and Q: dA = dP (S Q) / n or
//    (P S / n) dQ.
// 3. Rows of layer l, columns of earlier layers: the row of d2 f / d(P, Q) dx_l is a cotangent of
//    the state. It is carried back like an adjoint and lifted to P and Q at each layer.
// 4. The last layer is bilinear in (S, q), and only the last row of its P matters; its rows need no
//    more than 3 e cotangents.
//
// Eight (AVX-512), four or two prompts share each vector register; sums over prompts are inner
// products of such registers, summed over groups of packs.
#pragma once

#include <memory>

#include <hesscope/simd/instruction_set.h>
#include <hesscope/structured/linear_attention_structure.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope {

/// Null if it would need more than 512 MiB in addition to H (d beyond about 40); the generic engine
/// must then be used.
/// @cost   per prompt and pair of layers, about 5 e^5 multiply-adds for each of the four blocks (P
///         or Q, P or Q), compared with n / 2 gradients of the generic engine; for memory see
///         workspace_bytes().
/// @param set  the instructions to use; by default the best this processor has.
/// @throws PreconditionError if a size is not positive or the set is not supported.
std::shared_ptr<const StructuredHessian> linear_attention_hessian(
    const LinearAttentionStructure& structure, InstructionSet set = best_instruction_set());

}  // namespace hesscope
