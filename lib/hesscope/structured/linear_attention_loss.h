// SPDX-License-Identifier: BSD-3-Clause
//
// Loss and gradient of linear attention on linear regression (models/linear_attention.h), using its
// structure.
//
// A prompt enters only through S_0 = sum over the context of z z^T and the query q_0, which do not
// depend on the parameters. Its condensed form has (e (e + 1) / 2 + e + 1) numbers, including the
// target, with e = d + 1. Layers are evaluated as in linear_attention_hessian.h, except for the
// last two: with A = I + P S Q / n of the last layer but one, p the last row of the last P / n and
// Q' the last Q,
//   f = -[q']_e - (A v)^T Q' q',  q' = A q,  v = S u,  u = A^T p,
// needs only products of matrices with vectors, and so does its gradient.
#pragma once

#include <memory>

#include <hesscope/simd/instruction_set.h>
#include <hesscope/structured/linear_attention_structure.h>
#include <hesscope/structured/structured_loss.h>

namespace hesscope {

/// @cost   per prompt and layer except the last two, about 4 e^3 multiply-adds for the value and 10
///         e^3 for value and gradient; 10 e^2 and 30 e^2 for the last two; e^2 n / 2 for
///         condense().
/// @param set  the instructions to use; by default the best this processor has.
/// @throws PreconditionError if a size is not positive or the set is not supported.
std::shared_ptr<const StructuredLoss> linear_attention_loss(
    const LinearAttentionStructure& structure, InstructionSet set = best_instruction_set());

}  // namespace hesscope
