// SPDX-License-Identifier: BSD-3-Clause
//
// A file behind a process boundary, for formats whose library cannot be trusted with hostile files.
//
// The file is listed in a forked child, which has no other file open and then, on request, reads
// one array after the other into shared memory, with limits on its memory and time. A child that
// has been idle for a few seconds ends, and so does the longest idle one if there are many; the
// next request starts another child, whose listing must be the same.
//
// A crash takes down only the child. This is not a sandbox: code smuggled in by a file would run
// with the user's rights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hesscope/storage/input_file.h>
#include <hesscope/storage/read_limits.h>

namespace hesscope::io {

/// Receives the elements of an array block by block.
class BlockSink {
 public:
  virtual ~BlockSink() = default;

  /// Number of elements of the largest block.
  virtual std::size_t max_block() const = 0;

  /// Buffer for the next block, of max_block() elements.
  virtual std::span<double> room() = 0;

  /// Takes the first `count` elements of room() as the next ones of the array.
  virtual void deliver(std::size_t count) = 0;
};

/// An array of a file, or a part of it. Sent as it lies in memory, and therefore without padding.
struct ArrayRequest {
  std::uint64_t index = 0;         ///< its place in the listing
  std::uint64_t is_slice = 0;      ///< 1: one slice instead of the whole
  std::uint64_t slice = 0;         ///< along its first axis
  std::uint64_t num_elements = 0;  ///< number of requested elements
};

static_assert(std::has_unique_object_representations_v<ArrayRequest>);

/// Reads a file in the child.
class FileServer {
 public:
  virtual ~FileServer() = default;

  /// The contents of the file, in bytes that only the requester needs to understand.
  virtual std::string listing() const = 0;

  /// Delivers the elements, row-major. @throws InputError; std::out_of_range for something that is
  /// not listed.
  virtual void read(const ArrayRequest& request, BlockSink& sink) const = 0;
};

using OpenServer = std::function<std::unique_ptr<FileServer>()>;

/// What messages say about a file.
struct IsolatedFormat {
  std::string_view name;    ///< "HDF5"
  std::string_view holds;   ///< "tensors"
  std::string_view remedy;  ///< for one that is malformed
};

/// Safe for concurrent use; each concurrent request is served by its own child.
class IsolatedFile {
 public:
  /// Reads a file in a child. Other threads may be running; those that use HDF5 must do so under
  /// QuietHdf5, else this can fail to start.
  /// @param max_listing_bytes  a longer listing is refused.
  /// @param open               called in the child, and again in each later one, where `file` is
  ///                           open.
  /// @throws InputError what `open` throws, and for a crash, lack of memory, or an exceeded time
  ///         limit. OutputError if the system allows no further process.
  IsolatedFile(std::shared_ptr<const InputFile> file,
               const IsolatedFormat& format,
               const ReadLimits& limits,
               std::size_t max_listing_bytes,
               OpenServer open);
  ~IsolatedFile();
  const std::string& path() const;

  /// From a possibly compromised process: decode it with suspicion.
  const std::string& listing() const;

  /// To be called if the listing cannot be decoded.
  [[noreturn]] void refuse_listing() const;

  /// The requested elements.
  /// @param name  of the array, for messages.
  /// @throws InputError; OutputError as the constructor.
  std::vector<double> read(const ArrayRequest& request, const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A child's answer to a question.
enum class Answer {
  kNo,
  kYes,
  kNone,  ///< it crashed, or did not answer in time
};

/// The answer of a child process in which `file` is open. @throws OutputError as IsolatedFile.
Answer ask_isolated(const InputFile& file,
                    const ReadLimits& limits,
                    const std::function<bool()>& question);

}  // namespace hesscope::io
