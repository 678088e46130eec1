// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints consisting of several files, listed by a JSON index. Reached through
// format_registry.h.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for a text that begins a JSON object.
bool recognises_shard_index(const InputFile& file);

/// The tensors of all files that "weight_map" names, file by file in the order of their names. The
/// map leads from tensors (Hugging Face) or groups of them (Keras) to the file or files that hold
/// them. A file is named without a folder and must be next to the index.
/// @throws InputError as open_tensor_file(); for a missing file, a tensor that its file does not
///         hold, one that two files hold, and a file that is itself an index.
std::unique_ptr<TensorSource> open_shard_index(std::shared_ptr<const InputFile> file,
                                               const ReadLimits& limits);

}  // namespace hesscope::io
