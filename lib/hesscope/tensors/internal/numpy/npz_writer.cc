// SPDX-License-Identifier: BSD-3-Clause
//
// Formats: numpy/lib/format.py, version 1.0; PKWARE APPNOTE 6.3.10, sections 4.3.7 (local header),
// 4.3.12 (directory), 4.3.16 (end record), with neither compression nor the zip64 records.
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <zlib.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/internal/numpy/npz_writer.h>
#include <hesscope/tensors/internal/tensor_encoding.h>

namespace hesscope::io {
namespace {

std::string numpy_type(const std::string& where, ElementType type) {
  const char* order = size_of(type) == 1 ? "|" : "<";
  switch (type) {
    case ElementType::kBool:
      return "|b1";
    case ElementType::kBFloat16:
      throw OutputError(fmt::format("{}: NumPy has no bfloat16; store it as float32", where));
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
      return fmt::format("{}i{}", order, size_of(type));
    case ElementType::kUInt8:
    case ElementType::kUInt16:
    case ElementType::kUInt32:
    case ElementType::kUInt64:
      return fmt::format("{}u{}", order, size_of(type));
    default:
      return fmt::format("{}f{}", order, size_of(type));
  }
}

std::string npy_bytes(const std::string& where, const CheckpointTensor& tensor) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   numpy_type(where, tensor.type),
                                   shape_text(tensor.shape));
  constexpr std::size_t kPrefix = 10;  // magic, version, length
  constexpr std::size_t kAlignment = 64;
  const std::size_t unpadded = kPrefix + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  if (header.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw OutputError(
        fmt::format("{}: {} dimensions are too many for a .npy", where, tensor.shape.size()));
  }
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append_little(bytes, static_cast<std::uint16_t>(header.size()));
  bytes += header;
  encode_elements(where, tensor.type, tensor.values, bytes);
  return bytes;
}

std::string where_is(const std::filesystem::path& path, const CheckpointTensor& tensor) {
  return fmt::format("{}: tensor '{}'", path.string(), tensor.name);
}

struct Member {
  std::string name;
  std::uint32_t crc32 = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};

/// The part of a member's description that local header and directory share.
void append_description(std::string& archive, const Member& member) {
  constexpr std::uint16_t kVersion = 20;
  constexpr std::uint16_t kNamesAreUtf8 = 0x800;
  constexpr std::uint16_t kStored = 0;
  constexpr std::uint16_t kMidnight = 0;
  constexpr std::uint16_t kFirstOfJanuary1980 = 0x21;
  for (const std::uint16_t field :
       {kVersion, kNamesAreUtf8, kStored, kMidnight, kFirstOfJanuary1980}) {
    append_little(archive, field);
  }
  for (const std::uint32_t field : {member.crc32, member.size, member.size}) {
    append_little(archive, field);
  }
  append_little(archive, static_cast<std::uint16_t>(member.name.size()));
  append_little(archive, std::uint16_t{0});  // no extra fields
}

void append_directory_entry(std::string& archive, const Member& member) {
  constexpr std::uint16_t kMadeByUnix = 3 << 8 | 20;
  constexpr std::uint32_t kAttributes = 0100644U << 16;
  archive += "PK\x01\x02";
  append_little(archive, kMadeByUnix);
  append_description(archive, member);
  for (int i = 0; i < 3; ++i) append_little(archive, std::uint16_t{0});  // comment, disk, kind
  append_little(archive, kAttributes);
  append_little(archive, member.offset);
  archive += member.name;
}

}  // namespace

void write_npz(const std::filesystem::path& path,
               std::span<const CheckpointTensor> tensors,
               Existing existing) {
  require_tensors("write_npz", tensors);
  constexpr std::size_t kMaxMembers = 0xFFFE;  // from 0xFFFF on the zip64 records say how many
  constexpr std::size_t kMaxBytes = 0xFFFFFFFE;
  constexpr std::size_t kMaxName = 0xFFFF;
  const auto refuse_large = [&](const std::string& what) {
    throw OutputError(
        fmt::format("{}: {}; .npz is written up to {} tensors and 4 GiB: write .safetensors or .h5",
                    path.string(),
                    what,
                    kMaxMembers));
  };
  if (tensors.size() > kMaxMembers) refuse_large(fmt::format("{} tensors", tensors.size()));
  std::string archive;
  std::vector<Member> members;
  for (const CheckpointTensor& tensor : tensors) {
    const std::string bytes = npy_bytes(where_is(path, tensor), tensor);
    Member member{.name = tensor.name + ".npy"};
    if (member.name.size() > kMaxName) {
      throw OutputError(fmt::format("{}: its name is {} bytes long, too long for a zip archive",
                                    where_is(path, tensor),
                                    tensor.name.size()));
    }
    if (archive.size() + member.name.size() + bytes.size() > kMaxBytes) {
      refuse_large(fmt::format("more than 4 GiB, with tensor '{}'", tensor.name));
    }
    member.size = static_cast<std::uint32_t>(bytes.size());
    member.offset = static_cast<std::uint32_t>(archive.size());
    member.crc32 = static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    archive += "PK\x03\x04";
    append_description(archive, member);
    archive += member.name;
    archive += bytes;
    members.push_back(std::move(member));
  }
  const std::size_t directory = archive.size();
  for (const Member& member : members) append_directory_entry(archive, member);
  const std::size_t directory_bytes = archive.size() - directory;
  if (archive.size() > kMaxBytes) refuse_large("more than 4 GiB");
  archive += "PK\x05\x06";
  append_little(archive, std::uint32_t{0});  // one disk
  append_little(archive, static_cast<std::uint16_t>(members.size()));
  append_little(archive, static_cast<std::uint16_t>(members.size()));
  append_little(archive, static_cast<std::uint32_t>(directory_bytes));
  append_little(archive, static_cast<std::uint32_t>(directory));
  append_little(archive, std::uint16_t{0});  // no comment
  write_whole(path, archive, existing);
}

void write_npy(const std::filesystem::path& path,
               std::span<const CheckpointTensor> tensors,
               Existing existing) {
  require_tensors("write_npy", tensors);
  if (tensors.size() != 1) {
    throw OutputError(
        fmt::format("{}: a .npy file holds one tensor, got {}; write .npz, .safetensors or .h5",
                    path.string(),
                    tensors.size()));
  }
  write_whole(path, npy_bytes(where_is(path, tensors[0]), tensors[0]), existing);
}

}  // namespace hesscope::io
