// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy arrays and archives of them. Reached through format_registry.h.
#pragma once

#include <filesystem>
#include <span>

#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/checkpoint_file.h>

namespace hesscope::io {

/// Writes the same as np.savez: a zip archive of NAME.npy, not compressed, dated 1980-01-01 so that
/// the same tensors give the same bytes.
/// @throws OutputError as AtomicFile, and naming the tensor: bfloat16, which NumPy does not know; a
///         name longer than 65,531 bytes; more than 65,534 tensors or 4 GiB, which need another
///         kind of archive.
/// @throws PreconditionError as require_tensors().
/// @cost   the whole file in memory.
void write_npz(const std::filesystem::path& path,
               std::span<const CheckpointTensor> tensors,
               Existing existing);

/// Writes the same as np.save. The format has no place for a name.
/// @throws OutputError as AtomicFile, for bfloat16, and unless there is exactly one tensor.
/// @throws PreconditionError as require_tensors().
void write_npy(const std::filesystem::path& path,
               std::span<const CheckpointTensor> tensors,
               Existing existing);

}  // namespace hesscope::io
