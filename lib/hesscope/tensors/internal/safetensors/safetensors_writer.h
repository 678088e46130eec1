// SPDX-License-Identifier: BSD-3-Clause
//
// Safetensors files. Reached through format_registry.h.
#pragma once

#include <filesystem>
#include <span>

#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/checkpoint_file.h>

namespace hesscope::io {

/// Writes a safetensors file: the header in the tensors' order, padded to 8 bytes; the data in
/// descending order of element size, so that all are aligned.
/// @throws OutputError as AtomicFile, and for a tensor named '__metadata__' or a header larger than
///         100,000,000 bytes, which no reader accepts.
/// @throws PreconditionError as require_tensors().
/// @cost   the whole file in memory.
/// @source github.com/huggingface/safetensors, README, "Format".
void write_safetensors(const std::filesystem::path& path,
                       std::span<const CheckpointTensor> tensors,
                       Existing existing);

}  // namespace hesscope::io
