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

/// Writes a checkpoint that open_tensor_file() and h5py can read, with one HDF5 dataset per tensor;
/// completely or not at all, and synced. The same tensors give the same bytes. All numbers are
/// protected by checksums that readers verify: up to 4 KiB that of the object header, beyond that
/// Fletcher-32.
/// @param existing  what to do with an existing file.
/// @throws OutputError as ResultFile does, and naming the tensor: a value that its type cannot
///         hold, bfloat16, which h5py does not know, a name that is "." or contains a '/';
///         PreconditionError if a shape does not fit its values, or a name is empty, not UTF-8 text
///         or given twice.
void write_checkpoint(const std::filesystem::path& path,
                      std::span<const CheckpointTensor> tensors,
                      Existing existing);

}  // namespace hesscope::io
