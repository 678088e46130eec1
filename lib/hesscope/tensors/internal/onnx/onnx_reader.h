// SPDX-License-Identifier: BSD-3-Clause
//
// ONNX models as checkpoints. Reached through format_registry.h.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// onnx::recognises_onnx().
bool recognises_onnx_model(const InputFile& file);

/// The graph's initializers that are numbers or truth values, then the outputs of its Identity
/// nodes whose input is one of them: if an exporter finds two tensors with equal values, it writes
/// them once, together with such a node for the name of the other. Other initializers are
/// unreadable().
/// @throws InputError as onnx::read_onnx_file(). @cost all tensors in memory.
std::unique_ptr<TensorSource> open_onnx_model(std::shared_ptr<const InputFile> file,
                                              const ReadLimits& limits);

}  // namespace hesscope::io
