// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by all writers of tensors: checks before a file is begun, and conversion of doubles to
// stored elements.
#pragma once

#include <span>
#include <string>

#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// @throws PreconditionError naming the tensor if a name is empty, not UTF-8 text or given twice,
///         or the number of values does not fit the shape. `function` begins the message.
void require_tensors(const char* function, std::span<const CheckpointTensor> tensors);

/// Appends the values as little-endian elements of `type`. float32 is rounded to nearest; all other
/// types must represent the value exactly, NaN as a NaN.
/// @throws OutputError "<where>: ..." for a value that the type cannot represent, including finite
///         ones beyond the largest float32.
void encode_elements(const std::string& where,
                     ElementType type,
                     std::span<const double> values,
                     std::string& bytes);

}  // namespace hesscope::io
