// SPDX-License-Identifier: BSD-3-Clause
//
// Other axes for the same entries, with the number of samples N as a symbol.
#pragma once

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// The value in another shape, as ONNX's Reshape: 0 is the input's length there (unless
/// `zero_is_zero`), one -1 what remains.
///
/// The entries of a tensor with L N R of them stand in the order (L, N, R). A new shape keeps
/// samples apart if N falls within one axis with L / (product of the axes before) in front of it;
/// every other shape would cut the batch, and is refused.
Value reshaped(const OperatorCall& call,
               const Value& value,
               const Integers& shape,
               bool zero_is_zero);

/// Axes of a shape that is made anew: entries are lengths, or one of them a multiple of N.
/// @throws InputError by call.refuse() for lengths below 1, and N twice.
Axes axes_of(const OperatorCall& call, const Integers& shape);

}  // namespace hesscope::onnx
