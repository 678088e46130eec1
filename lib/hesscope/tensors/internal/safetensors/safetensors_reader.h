// SPDX-License-Identifier: BSD-3-Clause
//
// Safetensors files. Reached through format_registry.h.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for a file, even a truncated one, that begins with a length and a JSON object.
bool recognises_safetensors(const InputFile& file);

/// Tensors in the order of the header. Stricter than the reference reader where two readers could
/// disagree about a file's content: unknown and repeated keys are refused.
/// @throws InputError as open_tensor_file(), naming the tensor and the byte of the file.
/// @source github.com/huggingface/safetensors, README, "Format", and safetensors/src/tensor.rs.
std::unique_ptr<TensorSource> open_safetensors(std::shared_ptr<const InputFile> file,
                                               const ReadLimits& limits);

}  // namespace hesscope::io
