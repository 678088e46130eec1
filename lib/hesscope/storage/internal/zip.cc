// SPDX-License-Identifier: BSD-3-Clause
//
// Offsets of fields refer to the record layouts (zip_records.h).
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/storage/internal/zip_records.h>
#include <hesscope/storage/internal/zip_stream.h>

namespace hesscope::io {
namespace {

using zip::Record;

// Bits 1 and 2 are the deflate level, 3 announces a data descriptor, 11 a UTF-8 name. The others
// (encryption, patches, masked headers) change the meaning of the bytes.
constexpr std::uint16_t kHarmlessFlags = 0x080E;

struct Directory {
  std::uint64_t num_entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  ///< where the first end record begins
};

class DirectoryReader {
 public:
  DirectoryReader(const InputFile& file, const ReadLimits& limits) : file_(file), limits_(limits) {}

  std::vector<ZipEntry> read() const {
    const Directory directory = find_directory();
    std::vector<ZipEntry> entries = read_entries(directory);
    for (ZipEntry& entry : entries) locate_data(entry, directory);
    refuse_overlap(entries);
    return entries;
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError(file_.path().string() + ": " +
                     fmt::format(format, std::forward<Args>(args)...));
  }

  /// For a member whose header is at `place`.
  template <typename... Args>
  [[noreturn]] void refuse_at(std::uint64_t place,
                              fmt::format_string<Args...> format,
                              Args&&... args) const {
    refuse("{} (header at byte {})", fmt::format(format, std::forward<Args>(args)...), place);
  }

  template <std::size_t size>
  std::array<std::byte, size> bytes_at(std::uint64_t offset) const {
    std::array<std::byte, size> bytes;
    file_.read_at(offset, bytes);
    return bytes;
  }

  Directory find_directory() const {
    const std::uint64_t tail_bytes =
        std::min<std::uint64_t>(file_.size(), zip::kEndBytes + zip::kMaxCommentBytes);
    const std::uint64_t tail_offset = file_.size() - tail_bytes;
    std::vector<std::byte> tail(tail_bytes);
    file_.read_at(tail_offset, tail);
    const std::size_t num_places =
        tail.size() < zip::kEndBytes ? 0 : tail.size() - zip::kEndBytes + 1;
    for (std::size_t at = num_places; at-- > 0;) {
      const Record end{std::span(tail).subspan(at)};
      if (end.u32(0) == zip::kEndSignature && end.u16(20) == end.size() - zip::kEndBytes) {
        return read_end(end, tail_offset + at);
      }
    }
    refuse(
        "truncated or damaged zip archive: there is no end-of-directory record in its last {} "
        "bytes "
        "(from byte {} on)",
        tail_bytes,
        tail_offset);
  }

  Directory read_end(const Record& end, std::uint64_t offset) const {
    Directory directory{end.u16(10), end.u32(12), end.u32(16), offset};
    const bool is_one_disk = end.u16(4) == 0 && end.u16(6) == 0 && end.u16(8) == end.u16(10);
    const bool is_saturated = end.u16(10) == zip::kSaturated16 ||
                              end.u32(12) == zip::kSaturated32 || end.u32(16) == zip::kSaturated32;
    if (const auto wide = read_end64(offset)) {
      const auto agrees = [](std::uint64_t narrow, std::uint64_t saturated, std::uint64_t value) {
        return narrow == value || narrow == saturated;
      };
      if (!agrees(end.u16(10), zip::kSaturated16, wide->num_entries) ||
          !agrees(end.u32(12), zip::kSaturated32, wide->bytes) ||
          !agrees(end.u32(16), zip::kSaturated32, wide->offset)) {
        refuse("damaged zip archive: the end record at byte {} and its zip64 form disagree",
               offset);
      }
      directory = *wide;
    } else if (is_saturated) {
      refuse(
          "damaged zip archive: the zip64 record that the end record at byte {} needs is missing",
          offset);
    }
    if (!is_one_disk) refuse_at(offset, "zip archives of several disks are not supported");
    if (directory.offset > directory.end || directory.end - directory.offset != directory.bytes) {
      refuse(
          "damaged zip archive: the directory ({} bytes at byte {}) does not end at its end record "
          "at byte {}",
          directory.bytes,
          directory.offset,
          directory.end);
    }
    if (directory.num_entries > limits_.max_tensors || directory.bytes > limits_.max_header_bytes) {
      refuse("the zip directory at byte {} lists {} members in {} bytes; the limits are {} and {}",
             directory.offset,
             directory.num_entries,
             directory.bytes,
             limits_.max_tensors,
             limits_.max_header_bytes);
    }
    return directory;
  }

  /// The zip64 end record, if its locator precedes the end record.
  std::optional<Directory> read_end64(std::uint64_t end_offset) const {
    if (end_offset < zip::kLocator64Bytes) return std::nullopt;
    const std::uint64_t locator_offset = end_offset - zip::kLocator64Bytes;
    const auto locator_bytes = bytes_at<zip::kLocator64Bytes>(locator_offset);
    const Record locator(locator_bytes);
    if (locator.u32(0) != zip::kLocator64Signature) return std::nullopt;
    const std::uint64_t offset = locator.u64(8);
    if (offset > locator_offset || locator_offset - offset < zip::kEnd64Bytes) {
      refuse("damaged zip archive: the zip64 locator at byte {} points outside", locator_offset);
    }
    const auto bytes = bytes_at<zip::kEnd64Bytes>(offset);
    const Record end(bytes);
    if (end.u32(0) != zip::kEnd64Signature || end.u64(4) != locator_offset - offset - 12) {
      refuse("damaged zip archive: no zip64 end record at byte {}", offset);
    }
    if (locator.u32(4) != 0 || locator.u32(16) > 1 || end.u32(16) != 0 || end.u32(20) != 0 ||
        end.u64(24) != end.u64(32)) {
      refuse_at(offset, "zip archives of several disks are not supported");
    }
    return Directory{end.u64(32), end.u64(40), end.u64(48), offset};
  }

  std::vector<ZipEntry> read_entries(const Directory& directory) const {
    std::vector<std::byte> bytes(directory.bytes);
    file_.read_at(directory.offset, bytes);
    std::vector<ZipEntry> entries;
    std::unordered_set<std::string> names;
    std::size_t at = 0;
    while (entries.size() < directory.num_entries) {
      const std::span<const std::byte> rest = std::span(bytes).subspan(at);
      const Record record(rest);
      if (rest.size() < zip::kCentralBytes || record.u32(0) != zip::kCentralSignature) {
        refuse("damaged zip archive: no directory entry at byte {}", directory.offset + at);
      }
      const std::size_t name_bytes = record.u16(28);
      const std::size_t extra_bytes = record.u16(30);
      const std::size_t comment_bytes = record.u16(32);
      const std::size_t size = zip::kCentralBytes + name_bytes + extra_bytes + comment_bytes;
      if (size > rest.size()) {
        refuse("damaged zip archive: the directory entry at byte {} is cut short",
               directory.offset + at);
      }
      entries.push_back(
          read_entry(record,
                     record.text(zip::kCentralBytes, name_bytes),
                     Record(record.part(zip::kCentralBytes + name_bytes, extra_bytes)),
                     directory.offset + at));
      if (!names.insert(entries.back().name).second) {
        refuse_at(directory.offset + at,
                  "damaged zip archive: two members are named '{}'",
                  entries.back().name);
      }
      at += size;
    }
    if (at != bytes.size()) {
      refuse("damaged zip archive: {} bytes follow the last directory entry at byte {}",
             bytes.size() - at,
             directory.offset + at);
    }
    return entries;
  }

  /// @param place  of the record, for messages.
  ZipEntry read_entry(const Record& record,
                      std::string name,
                      const Record& extra,
                      std::uint64_t place) const {
    if (name.empty() || !is_printable_utf8(name)) {
      refuse_at(place,
                "a zip member's name is not UTF-8 text without control characters: '{}'",
                escaped(name));
    }
    ZipEntry entry;
    entry.name = std::move(name);
    check_flags(entry.name, record.u16(8), place);
    const std::uint16_t method = record.u16(10);
    if (method != zip::kMethodStored && method != zip::kMethodDeflate) {
      refuse_at(place,
                "member '{}' uses zip compression method {}; stored and deflate are supported",
                entry.name,
                method);
    }
    entry.is_deflated = method == zip::kMethodDeflate;
    entry.crc32 = record.u32(16);

    // A 64-bit value replaces each saturated field, in this order.
    Record wide = zip64_values(entry.name, extra, place);
    std::size_t at = 0;
    const auto widened = [&](std::uint32_t narrow) -> std::uint64_t {
      if (narrow != zip::kSaturated32) return narrow;
      if (wide.size() < at + 8) {
        refuse_at(place, "member '{}': its zip64 field is missing or too short", entry.name);
      }
      return wide.u64(std::exchange(at, at + 8));
    };
    entry.decoded_bytes = widened(record.u32(24));
    entry.stored_bytes = widened(record.u32(20));
    entry.header_offset = widened(record.u32(42));
    if (record.u16(34) != 0) refuse_at(place, "zip archives of several disks are not supported");

    if (!entry.is_deflated && entry.stored_bytes != entry.decoded_bytes) {
      refuse_at(place,
                "member '{}' is stored uncompressed, yet declares {} bytes for {} stored ones",
                entry.name,
                entry.decoded_bytes,
                entry.stored_bytes);
    }
    if (entry.decoded_bytes > limits_.max_tensor_bytes &&
        entry.decoded_bytes - limits_.max_tensor_bytes > limits_.max_header_bytes) {
      refuse_at(place,
                "member '{}' declares {} bytes, beyond the limit of {} for one tensor",
                entry.name,
                entry.decoded_bytes,
                limits_.max_tensor_bytes);
    }
    check_expansion(
        fmt::format("{}: header at byte {}: member '{}'", file_.path().string(), place, entry.name),
        entry.decoded_bytes,
        entry.stored_bytes,
        limits_);
    return entry;
  }

  void check_flags(const std::string& name, std::uint16_t flags, std::uint64_t place) const {
    if ((flags & 1U) != 0)
      refuse_at(place, "member '{}' is encrypted; save the file without a password", name);
    if ((flags & ~kHarmlessFlags) != 0) {
      refuse_at(place, "member '{}' uses unsupported zip features (flags {:#06x})", name, flags);
    }
  }

  /// Values of the zip64 field among the extra fields; empty if there is none.
  Record zip64_values(const std::string& name, const Record& extra, std::uint64_t place) const {
    Record found{{}};
    std::size_t at = 0;
    while (at < extra.size()) {
      if (extra.size() - at < 4 || extra.size() - at - 4 < extra.u16(at + 2)) {
        refuse_at(
            place, "damaged zip archive: the extra fields of member '{}' are cut short", name);
      }
      const std::size_t size = extra.u16(at + 2);
      if (extra.u16(at) == zip::kZip64Field) {
        if (found.size() != 0)
          refuse_at(place, "damaged zip archive: member '{}' has two zip64 fields", name);
        found = Record(extra.part(at + 4, size));
      }
      at += 4 + size;
    }
    return found;
  }

  /// Fills in data_offset from the local header, which must have the same member name and method.
  void locate_data(ZipEntry& entry, const Directory& directory) const {
    const std::uint64_t offset = entry.header_offset;
    if (offset > directory.offset || directory.offset - offset < zip::kLocalBytes) {
      refuse("damaged zip archive: member '{}' is said to begin at byte {}", entry.name, offset);
    }
    const auto bytes = bytes_at<zip::kLocalBytes>(offset);
    const Record local(bytes);
    if (local.u32(0) != zip::kLocalSignature) {
      refuse("damaged zip archive: no local header of member '{}' at byte {}", entry.name, offset);
    }
    check_flags(entry.name, local.u16(6), offset);
    if (local.u16(8) != (entry.is_deflated ? zip::kMethodDeflate : zip::kMethodStored) ||
        file_.text_at(offset + zip::kLocalBytes, local.u16(26)) != entry.name) {
      refuse(
          "damaged zip archive: the local header at byte {} and the directory disagree on member "
          "'{}'",
          offset,
          entry.name);
    }
    entry.data_offset = offset + zip::kLocalBytes + local.u16(26) + local.u16(28);
    if (entry.data_offset > directory.offset ||
        entry.stored_bytes > directory.offset - entry.data_offset) {
      refuse(
          "damaged zip archive: member '{}' ({} bytes at byte {}) runs into the directory at byte "
          "{}",
          entry.name,
          entry.stored_bytes,
          entry.data_offset,
          directory.offset);
    }
  }

  void refuse_overlap(std::span<const ZipEntry> entries) const {
    std::vector<const ZipEntry*> in_file;
    in_file.reserve(entries.size());
    for (const ZipEntry& entry : entries) in_file.push_back(&entry);
    std::ranges::sort(in_file, {}, &ZipEntry::header_offset);
    for (std::size_t i = 1; i < in_file.size(); ++i) {
      const ZipEntry& before = *in_file[i - 1];
      if (before.data_offset + before.stored_bytes > in_file[i]->header_offset) {
        refuse("damaged zip archive: members '{}' and '{}' overlap at byte {}",
               before.name,
               in_file[i]->name,
               in_file[i]->header_offset);
      }
    }
  }

  const InputFile& file_;
  const ReadLimits& limits_;
};

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
    : file_(std::move(file)), entries_(DirectoryReader(*file_, limits).read()) {}

std::unique_ptr<ByteStream> ZipArchive::open(std::size_t index) const {
  return open_zip_entry(file_, entries_.at(index));
}

std::string first_zip_member(const InputFile& file) {
  constexpr int kMaxFolders = 64;
  std::uint64_t offset = 0;
  for (int i = 0; i < kMaxFolders; ++i) {
    const std::string text = file.text_at(offset, zip::kLocalBytes);
    const Record local(std::as_bytes(std::span(text)));
    if (text.size() < zip::kLocalBytes || local.u32(0) != zip::kLocalSignature) return {};
    std::string name = file.text_at(offset + zip::kLocalBytes, local.u16(26));
    if (!name.ends_with('/')) return name;
    offset += zip::kLocalBytes + local.u16(26) + local.u16(28);
  }
  return {};
}

bool looks_like_zip(const InputFile& file) {
  const std::string text = file.text_at(0, 4);
  return text == "PK\x03\x04" || (text == "PK\x05\x06" && file.size() >= zip::kEndBytes);
}

}  // namespace hesscope::io
