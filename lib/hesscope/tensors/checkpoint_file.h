// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// A tensor to be stored.
struct CheckpointTensor {
  std::string name;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::span<const double> values;   ///< row-major
  ElementType type = ElementType::kFloat64;
};

/// Writes a checkpoint that open_tensor_file() and h5py read: one HDF5 dataset for each tensor,
/// whole or not at all, and synced. The same tensors give the same bytes. Every number is under a
/// checksum that readers compare: up to 4 KiB that of the object's header, beyond that Fletcher-32.
/// @param existing  what becomes of a file that is there.
/// @throws OutputError as ResultFile does, and naming the tensor: a value that its type does not
///         hold, bfloat16, which h5py does not know, a name that is "." or holds a '/';
///         PreconditionError where a shape does not fit its values, or a name is empty, not UTF-8
///         text or given twice.
void write_checkpoint(const std::filesystem::path& path,
                      std::span<const CheckpointTensor> tensors,
                      Existing existing);

}  // namespace hesscope::io
