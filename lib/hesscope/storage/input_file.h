// SPDX-License-Identifier: BSD-3-Clause
//
// Random access to files, and byte streams of known length.
//
// Every input is opened here, and only once, so that its type, its content and its digest refer to
// the same bytes, whatever happens to its name meanwhile. Files are read with pread rather than
// mapped: if another program truncates a mapped file, SIGBUS kills the reader; and a stream needs
// little more memory than one buffer, however large the file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <hesscope/core/error.h>
#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// There is no file of the name that was to be opened.
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
  /// @param stop      once it is requested, reading the file and computing its digest throw
  ///                  Interrupted.
  /// @throws InputError naming the path: missing (MissingFileError), a directory, not a regular
  ///         file (which would hang, or never end), unreadable (UnreadableFileError).
  explicit InputFile(const std::filesystem::path& path,
                     std::string_view expected = kCheckpoint,
                     std::stop_token stop = {});
  /// Opens `name` in the folder of `file`, which names it. Use this for names read from untrusted
  /// files.
  /// @throws InputError as the constructor; also if `name` is not a plain name of a file in that
  ///         folder, or leads elsewhere: a symbolic link, or a file with a second name (a hard
  ///         link).
  static std::shared_ptr<const InputFile> beside(const InputFile& file,
                                                 const std::string& name,
                                                 std::string_view expected = kCheckpoint);

  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Bytes in the file when it was opened.
  std::uint64_t size() const { return size_; }

  /// Greater than the descriptors of the standard streams.
  int descriptor() const { return descriptor_.number(); }

  /// For other code that works for the same caller.
  const std::stop_token& stop() const { return stop_; }

  /// To be called when everything has been read, to confirm that it all came from the file as it
  /// was when opened. @throws InputError if the file was written to, truncated, replaced or removed
  /// since.
  void require_unchanged() const;

  /// Fills `out` with the bytes from `offset` on. @throws InputError if the file ends before that;
  /// Interrupted.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Up to `max_bytes` bytes from `offset` on; fewer where the file ends.
  std::string text_at(std::uint64_t offset, std::size_t max_bytes) const;

 private:
  // @param descriptor  less than 0: the error that kept it from being opened, negated.
  InputFile(std::filesystem::path path, int descriptor, std::stop_token stop);
  void examine(std::string_view expected);
  void read_from_file(std::uint64_t offset, std::span<std::byte> out) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
  std::timespec written_ = {};
  std::timespec changed_ = {};
  std::stop_token stop_;
  std::optional<std::string> content_;  // of a file that could change unnoticed
};

/// All bytes of a file. @throws InputError, before anything is read, if there are more than
/// `max_bytes`.
std::string whole_text(const InputFile& file, std::uint64_t max_bytes);

/// Hexadecimal SHA-256 of the file's bytes. @throws InputError if they cannot be read, or if the
/// file has changed since it was opened.
std::string sha256_of(const InputFile& file);

/// The same for several files: the SHA-256 of what `sha256sum FILES...` prints in their folder. For
/// a single file, its own SHA-256.
std::string sha256_of(std::span<const std::shared_ptr<const InputFile>> files);

/// A sequence of bytes whose number is known beforehand.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// What the bytes are, for messages: "w.npz: member 'a.npy'".
  virtual const std::string& where() const = 0;

  /// Bytes not yet read.
  virtual std::uint64_t remaining() const = 0;

  /// Fills `out` with the next bytes. @throws InputError if they are not available or out.size() >
  /// remaining().
  virtual void read(std::span<std::byte> out) = 0;

  /// To be called when everything has been read; the data is valid only if this returns.
  /// @throws InputError if bytes are left over or a checksum does not match.
  virtual void finish() = 0;
};

/// All bytes of a file.
std::unique_ptr<ByteStream> stream_of(std::shared_ptr<const InputFile> file);

}  // namespace hesscope::io
