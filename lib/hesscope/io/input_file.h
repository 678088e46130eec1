// SPDX-License-Identifier: BSD-3-Clause
//
// Reading a file by position, and byte streams with an end. Private to io.
//
// Files are read with pread rather than mapped: a mapped file that another program cuts short kills
// the reader with SIGBUS, and a stream keeps memory near one buffer however large the file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hesscope::io {

/// A regular file open for reading.
class InputFile {
 public:
  /// @throws InputError naming the path: missing, a directory, not a regular file, unreadable.
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Bytes in the file when it was opened.
  std::uint64_t size() const { return size_; }

  /// Fills `out` with the bytes from `offset` on. @throws InputError if the file ends before that.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Up to `max_bytes` bytes from `offset` on; fewer where the file ends.
  std::string text_at(std::uint64_t offset, std::size_t max_bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Bytes that come in order, their number known beforehand.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// What the bytes are, for messages: "w.npz: member 'a.npy'".
  virtual const std::string& where() const = 0;

  /// Bytes not yet read.
  virtual std::uint64_t remaining() const = 0;

  /// Fills `out` with the next bytes. @throws InputError if they cannot be had or out.size() >
  /// remaining().
  virtual void read(std::span<std::byte> out) = 0;

  /// To be called when all has been read: what was read counts only if this returns.
  /// @throws InputError if bytes are left over or a checksum does not match.
  virtual void finish() = 0;
};

/// All bytes of a file.
std::unique_ptr<ByteStream> stream_of(std::shared_ptr<const InputFile> file);

}  // namespace hesscope::io
