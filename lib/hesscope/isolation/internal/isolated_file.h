// SPDX-License-Identifier: BSD-3-Clause
//
// A file behind a process boundary, for formats whose library cannot be trusted with hostile files.
//
// The file is listed in a forked child, which has no other file open, and then reads one array
// after the other as it is asked to, into memory that both share, with limits on its memory and its
// time. A child that has nothing to do for some seconds ends, and so does the one idle for longest
// when there are many; the next request starts another, which must list the same.
//
// What a crash takes with it is the child. Not a sandbox: code that a file smuggled in would run
// with the rights of the user.
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

/// Takes the elements of an array block by block.
class BlockSink {
 public:
  virtual ~BlockSink() = default;

  /// Elements of the largest block.
  virtual std::size_t max_block() const = 0;

  /// Room for the next block, of max_block() elements.
  virtual std::span<double> room() = 0;

  /// The first `count` elements of room() are the next ones of the array.
  virtual void deliver(std::size_t count) = 0;
};

/// An array of a file, or a part of it. Sent as it lies in memory, so without gaps.
struct ArrayRequest {
  std::uint64_t index = 0;         ///< its place in the listing
  std::uint64_t is_slice = 0;      ///< 1: of the whole, one slice
  std::uint64_t slice = 0;         ///< along its first axis
  std::uint64_t num_elements = 0;  ///< of what is asked for
};

static_assert(std::has_unique_object_representations_v<ArrayRequest>);

/// What reads a file in the child.
class FileServer {
 public:
  virtual ~FileServer() = default;

  /// What the file holds, in bytes that only those who ask for it need to understand.
  virtual std::string listing() const = 0;

  /// Delivers the elements, row-major. @throws InputError; std::out_of_range for what is not
  /// listed.
  virtual void read(const ArrayRequest& request, BlockSink& sink) const = 0;
};

using OpenServer = std::function<std::unique_ptr<FileServer>()>;

/// How messages speak of a file.
struct IsolatedFormat {
  std::string_view name;    ///< "HDF5"
  std::string_view holds;   ///< "tensors"
  std::string_view remedy;  ///< for one that is malformed
};

/// Safe for concurrent use; such requests are served by a child each.
class IsolatedFile {
 public:
  /// Reads a file in a child. Other threads may be running; those that use HDF5 must do so under
  /// QuietHdf5, else this can fail to start.
  /// @param max_listing_bytes  a longer listing is refused.
  /// @param open               called in the child, and again in each later one. `file` is open
  ///                           there.
  /// @throws InputError what `open` throws; for a crash, for want of memory, when a limit of time
  ///         is passed. OutputError when the system allows no further process.
  IsolatedFile(std::shared_ptr<const InputFile> file,
               const IsolatedFormat& format,
               const ReadLimits& limits,
               std::size_t max_listing_bytes,
               OpenServer open);
  ~IsolatedFile();
  const std::string& path() const;

  /// From a process that may have been led astray: to be decoded with suspicion.
  const std::string& listing() const;

  /// For a listing that cannot be decoded.
  [[noreturn]] void refuse_listing() const;

  /// The elements asked for.
  /// @param name  of the array, for messages.
  /// @throws InputError; OutputError as the constructor.
  std::vector<double> read(const ArrayRequest& request, const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a child says to a question.
enum class Answer {
  kNo,
  kYes,
  kNone,  ///< it crashed, or did not answer in time
};

/// The answer of a child, in which `file` is open. @throws OutputError as IsolatedFile.
Answer ask_isolated(const InputFile& file,
                    const ReadLimits& limits,
                    const std::function<bool()>& question);

}  // namespace hesscope::io
