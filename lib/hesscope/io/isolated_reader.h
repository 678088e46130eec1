// SPDX-License-Identifier: BSD-3-Clause
//
// A reader behind a process boundary, for formats whose library cannot be trusted with hostile
// files. Private to io.
//
// The file is opened and listed in a forked child, which then reads one tensor after the other as
// it is asked to, into memory that both share, with limits on its memory and its time. A child that
// has nothing to do for some seconds ends, and so does the one idle for longest when there are
// many; the next request starts another, which must find the same tensors.
//
// What a crash takes with it is the child. Not a sandbox: code that a file smuggled in would run
// with the rights of the user.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// Takes the elements of a tensor block by block.
class BlockSink {
 public:
  virtual ~BlockSink() = default;

  /// Elements of the largest block.
  virtual std::size_t max_block() const = 0;

  /// Room for the next block, of max_block() elements.
  virtual std::span<double> room() = 0;

  /// The first `count` elements of room() are the next ones of the tensor.
  virtual void deliver(std::size_t count) = 0;
};

/// What reads a file in the child.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  /// See TensorSource::tensors().
  virtual std::span<const TensorInfo> tensors() const = 0;

  /// Delivers the elements of tensors()[index], row-major, as doubles.
  /// @throws InputError as TensorSource::read().
  virtual void read(std::size_t index, BlockSink& sink) const = 0;
};

/// Opens a file in a child. Other threads may be running; those that use HDF5 must do so under
/// QuietHdf5, else this can fail to start.
/// @param format  for messages: "HDF5".
/// @param open    called in the child, and anew in each later one.
/// @throws InputError what `open` throws; for a crash, for want of memory, when a limit of time is
///         passed. OutputError when the system allows no further process.
std::unique_ptr<TensorSource> open_isolated(const std::filesystem::path& path,
                                            std::string_view format,
                                            const ReadLimits& limits,
                                            std::function<std::unique_ptr<BlockSource>()> open);

/// The answer of a child; false where it crashes, or does not answer in time.
/// @throws OutputError as open_isolated().
bool ask_isolated(const std::filesystem::path& path,
                  const ReadLimits& limits,
                  const std::function<bool()>& question);

}  // namespace hesscope::io
