// SPDX-License-Identifier: BSD-3-Clause
//
// Strict reading of zip archives, which .npz files and PyTorch checkpoints are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/storage/input_file.h>
#include <hesscope/storage/read_limits.h>

namespace hesscope::io {

struct ZipEntry {
  std::string name;
  bool is_deflated = false;  ///< otherwise stored uncompressed
  std::uint32_t crc32 = 0;
  std::uint64_t stored_bytes = 0;   ///< in the archive
  std::uint64_t decoded_bytes = 0;  ///< once inflated; within the limits
  std::uint64_t header_offset = 0;  ///< of the local header, in the file
  std::uint64_t data_offset = 0;    ///< of the first stored byte, in the file

  bool is_folder() const { return name.ends_with('/'); }
};

/// The members of a zip archive.
///
/// Sizes and checksums come from the central directory alone: local headers may omit them (data
/// descriptors) or hold them in a separate zip64 field (NumPy). Refused, because two readers could
/// disagree about the content of such an archive, or because they are not needed: encryption,
/// several disks, methods other than stored and deflate, names that occur twice, members that
/// overlap each other or the directory, local headers with another name or method, bytes between
/// directory and end record.
class ZipArchive {
 public:
  /// Reads and checks the directory and all local headers, but no data.
  /// @throws InputError naming the file, the member and the byte offset.
  ZipArchive(std::shared_ptr<const InputFile> file, const ReadLimits& limits);

  /// In the order of the central directory.
  std::span<const ZipEntry> entries() const { return entries_; }

  /// The decoded bytes of a member. finish() checks CRC-32 and that the member ends where it
  /// should.
  std::unique_ptr<ByteStream> open(std::size_t index) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::vector<ZipEntry> entries_;
};

/// The name in the first local header that is not a folder's; empty if the file is not a zip
/// archive or has no members. Works without an intact directory, to tell what a damaged file was
/// meant to be.
std::string first_zip_member(const InputFile& file);

/// True for an archive, even a damaged one: it begins with a local header or is the empty archive.
bool looks_like_zip(const InputFile& file);

}  // namespace hesscope::io
