// SPDX-License-Identifier: BSD-3-Clause
//
// What all writers share about tensors: checks before a file is begun, and doubles to stored
// elements.
#pragma once

#include <span>
#include <string>

#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// @throws PreconditionError naming the tensor where a name is empty, no UTF-8 text or given twice,
///         or the values are not as many as the shape says. `function` begins the message.
void require_tensors(const char* function, std::span<const CheckpointTensor> tensors);

/// Appends the values as elements of `type`, low bytes first. float32 is rounded to nearest; all
/// other types must hold the value exactly, NaN as a NaN.
/// @throws OutputError "<where>: ..." for a value that the type does not hold, among them finite
///         ones beyond the largest float32.
void encode_elements(const std::string& where,
                     ElementType type,
                     std::span<const double> values,
                     std::string& bytes);

}  // namespace hesscope::io
