// SPDX-License-Identifier: BSD-3-Clause
//
// Other axes for the same entries, with the number of samples N as a symbol.
#pragma once

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// The value in another shape, as in ONNX's Reshape: 0 stands for the input's length there (unless
/// `zero_is_zero`), one -1 for what remains.
///
/// The L N R entries of a tensor are in the order (L, N, R). A new shape keeps samples apart if N
/// falls within one axis, preceded by the factor L / (product of the axes before); every other
/// shape would cut the batch, and is refused.
Value reshaped(const OperatorCall& call,
               const Value& value,
               const Integers& shape,
               bool zero_is_zero);

/// The axes of a newly created shape: entries are lengths; one may be a multiple of N.
/// @throws InputError by call.refuse() for lengths below 1, and N twice.
Axes axes_of(const OperatorCall& call, const Integers& shape);

}  // namespace hesscope::onnx
