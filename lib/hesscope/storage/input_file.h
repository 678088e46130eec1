// SPDX-License-Identifier: BSD-3-Clause
//
// Reading a file by position, and byte streams with an end.
//
// Whatever is read is opened here, once: what it is, what stands in it and its digest are then
// known of the same bytes, whatever becomes of its name meanwhile. Files are read with pread rather
// than mapped: a mapped file that another program cuts short kills the reader with SIGBUS, and a
// stream keeps memory near one buffer however large the file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <time.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// Nothing has the name that was to be opened.
class MissingFileError : public InputError {
 public:
  using InputError::InputError;
};

/// The system does not let a file be opened or read, perhaps only now: nothing is known of what it
/// holds.
class UnreadableFileError : public InputError {
 public:
  using InputError::InputError;
};

/// A regular file open for reading.
class InputFile {
 public:
  static constexpr std::string_view kCheckpoint = "a checkpoint or data file";

  /// @param expected  what should be there, for messages.
  /// @param stop      once it is requested, reading the file and taking its digest end by
  ///                  Interrupted.
  /// @throws InputError naming the path: missing (MissingFileError), a directory, not a regular
  ///         file (which would hang, or never end), unreadable (UnreadableFileError).
  explicit InputFile(std::filesystem::path path,
                     std::string_view expected = kCheckpoint,
                     std::stop_token stop = {});
  /// A file of this name in the folder of `file`, which names it: it must stand there itself. What
  /// a file of a stranger's names is opened so.
  /// @throws InputError as the constructor; also when `name` is none of a file in that folder, or
  ///         leads elsewhere: a symbolic link, a file with a second name (a hard link).
  static std::shared_ptr<const InputFile> beside(const InputFile& file,
                                                 const std::string& name,
                                                 std::string_view expected = kCheckpoint);

  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Bytes in the file when it was opened.
  std::uint64_t size() const { return size_; }

  /// Above those of the standard streams.
  int descriptor() const { return descriptor_.number(); }

  /// For others that work for the same caller.
  const std::stop_token& stop() const { return stop_; }

  /// To be called when all has been read: then all of it was of the file as it was when it was
  /// opened. @throws InputError if it was written to, cut short, replaced or removed since.
  void require_unchanged() const;

  /// Fills `out` with the bytes from `offset` on. @throws InputError if the file ends before that;
  /// Interrupted.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Up to `max_bytes` bytes from `offset` on; fewer where the file ends.
  std::string text_at(std::uint64_t offset, std::size_t max_bytes) const;

 private:
  InputFile(std::filesystem::path path, int descriptor, std::stop_token stop);
  void examine(std::string_view expected);
  void read_from_file(std::uint64_t offset, std::span<std::byte> out) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
  timespec written_ = {};
  timespec changed_ = {};
  std::stop_token stop_;
  std::optional<std::string> content_;  // of one that could change unnoticed
};

/// All bytes of a file. @throws InputError, before anything is read, for more than `max_bytes`.
std::string whole_text(const InputFile& file, std::uint64_t max_bytes);

/// Hexadecimal SHA-256 of the file's bytes. @throws InputError if they cannot be read, or are not
/// those of the file when it was opened any more.
std::string sha256_of(const InputFile& file);

/// The same of several: of what `sha256sum FILES...` prints in their folder; of one, its own.
std::string sha256_of(std::span<const std::shared_ptr<const InputFile>> files);

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
