// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints that are read in a separate process: isolated_file.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <hesscope/isolation/internal/isolated_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// Reads a checkpoint in the child.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  /// See TensorSource::tensors().
  virtual std::span<const TensorInfo> tensors() const = 0;

  /// See TensorSource::unreadable(). At most ReadLimits::max_tensors together with tensors().
  virtual std::span<const UnreadableTensor> unreadable() const { return {}; }

  /// Delivers the elements of tensors()[index], row-major, as doubles.
  /// @throws InputError as TensorSource::read().
  virtual void read(std::size_t index, BlockSink& sink) const = 0;
};

/// @param format  for messages: "HDF5".
/// @param open    called in the child, and again in each later one.
/// @throws InputError, OutputError as IsolatedFile.
std::unique_ptr<TensorSource> open_isolated(
    std::shared_ptr<const InputFile> file,
    std::string_view format,
    const ReadLimits& limits,
    const std::function<std::unique_ptr<BlockSource>()>& open);

}  // namespace hesscope::io
