// SPDX-License-Identifier: BSD-3-Clause
//
// The elements of tensors in the storages of a PyTorch archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

class MemberBytes;

/// Reads strided tensors, one block of their storage at a time.
///
/// The first tensor of a storage reads all of it, so that its checksum is verified; later ones read
/// only the part in which they lie, for a deflated storage starting where the last one ended. Not
/// thread-safe.
class TorchStorages {
 public:
  /// @param archive  of the file; must outlive this.
  TorchStorages(std::shared_ptr<const InputFile> file, const ZipArchive& archive, ByteOrder order);

  /// The elements in row-major order.
  /// @param where  the tensor, for messages.
  /// @param member  index of the storage in the archive, in which the layout lies.
  /// @throws InputError as TensorSource::read().
  /// @cost   memory for the result and two blocks; if elements are not in the order of their
  ///         strides (overlapping windows), also for the part of the storage in which they lie.
  std::vector<double> read(const std::string& where,
                           std::size_t member,
                           ElementType type,
                           const StridedLayout& layout) const;

 private:
  std::unique_ptr<MemberBytes> open(std::size_t member, std::uint64_t begin) const;

  std::shared_ptr<const InputFile> file_;
  const ZipArchive& archive_;
  ByteOrder byte_order_;
  mutable std::vector<bool> is_verified_;  // by member: its checksum has been verified
  mutable std::unique_ptr<ByteStream> following_;
  mutable std::size_t following_member_;  // the member of following_, or none
};

}  // namespace hesscope::io
