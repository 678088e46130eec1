// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/archive_mutator.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace hesscope::fuzz {
namespace {

// PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.16.
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::string_view kEndSignature("PK\x05\x06");
constexpr std::size_t kMaxInflated = 1 << 16;

// Zip is little-endian, as every machine that runs libFuzzer here.
template <typename T>
T get(std::string_view bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) {
    std::memcpy(&value, bytes.data() + at, sizeof(T));
  }
  return value;
}

template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) {
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

struct Member {
  std::string local;    ///< header with name and extra fields
  std::string central;  ///< the same in the directory
  std::string stored;   ///< the bytes as they are in the archive

  bool is_deflated() const { return get<std::uint16_t>(central, 10) == 8; }
};

struct Archive {
  std::vector<Member> members;
  std::string tail;  ///< end records
};

/// Leniently: sizes and places from the directory, whatever lies between members is dropped.
std::optional<Archive> parse(std::string_view bytes) {
  const std::size_t end = bytes.rfind(kEndSignature);
  if (end == std::string_view::npos || bytes.size() - end < kEndBytes) return std::nullopt;
  Archive archive;
  std::size_t at = get<std::uint32_t>(bytes, end + 16);
  while (at < end && bytes.substr(at, 4) == "PK\x01\x02" && end - at >= kCentralBytes) {
    const std::size_t size = kCentralBytes + get<std::uint16_t>(bytes, at + 28) +
                             get<std::uint16_t>(bytes, at + 30) +
                             get<std::uint16_t>(bytes, at + 32);
    const std::size_t local = get<std::uint32_t>(bytes, at + 42);
    const std::size_t stored = get<std::uint32_t>(bytes, at + 20);
    if (size > end - at || local > end || end - local < kLocalBytes) return std::nullopt;
    const std::size_t local_bytes =
        kLocalBytes + get<std::uint16_t>(bytes, local + 26) + get<std::uint16_t>(bytes, local + 28);
    if (local_bytes > end - local || stored > end - local - local_bytes) return std::nullopt;
    archive.members.push_back({std::string(bytes.substr(local, local_bytes)),
                               std::string(bytes.substr(at, size)),
                               std::string(bytes.substr(local + local_bytes, stored))});
    at += size;
  }
  if (archive.members.empty() || at > end) return std::nullopt;
  archive.tail = bytes.substr(at);
  return archive;
}

std::string serialise(Archive archive) {
  std::string bytes;
  std::string directory;
  for (Member& member : archive.members) {
    put(member.central, 42, static_cast<std::uint32_t>(bytes.size()));
    bytes += member.local + member.stored;
    directory += member.central;
  }
  std::string& tail = archive.tail;
  const std::size_t end = tail.rfind(kEndSignature);
  const auto count = static_cast<std::uint16_t>(archive.members.size());
  put(tail, end + 8, count);
  put(tail, end + 10, count);
  put(tail, end + 12, static_cast<std::uint32_t>(directory.size()));
  put(tail, end + 16, static_cast<std::uint32_t>(bytes.size()));
  if (end >= 76 && tail.substr(end - 76, 4) == "PK\x06\x06") {  // zip64 record and locator
    const std::size_t wide = end - 76;
    put(tail, wide + 24, std::uint64_t{count});
    put(tail, wide + 32, std::uint64_t{count});
    put(tail, wide + 40, std::uint64_t{directory.size()});
    put(tail, wide + 48, std::uint64_t{bytes.size()});
    put(tail, end - 12, std::uint64_t{bytes.size() + directory.size() + wide});
  }
  return bytes + directory + tail;
}

/// Nothing where it is no deflate stream, or inflates to more than is worth it.
std::optional<std::string> inflated(std::string_view stored) {
  z_stream state{};
  if (inflateInit2(&state, -MAX_WBITS) != Z_OK) return std::nullopt;
  std::string out(kMaxInflated, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  state.avail_in = static_cast<uInt>(stored.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&state, Z_FINISH);
  out.resize(out.size() - state.avail_out);
  inflateEnd(&state);
  return code == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

std::string deflated(std::string_view content) {
  z_stream state{};
  if (deflateInit2(&state, 1, Z_DEFLATED, -MAX_WBITS, 1, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&state, content.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  state.avail_in = static_cast<uInt>(content.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(out.size() - state.avail_out);
  deflateEnd(&state);
  return out;
}

/// Sets checksum and sizes to what the stored bytes are; where these are damaged, only their size.
void repair(Member& member) {
  const std::optional<std::string> content =
      member.is_deflated() ? inflated(member.stored) : std::optional(member.stored);
  const auto stored_bytes = static_cast<std::uint32_t>(member.stored.size());
  put(member.central, 20, stored_bytes);
  if (!content) return;
  put(member.central, 24, static_cast<std::uint32_t>(content->size()));
  put(member.central,
      16,
      static_cast<std::uint32_t>(
          crc32_z(0, reinterpret_cast<const Bytef*>(content->data()), content->size())));
}

std::string mutated(std::string bytes, std::size_t max_size) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, max_size));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
  return bytes;
}

/// A name is as long as before: it stands in two headers.
void mutate_name(Member& member) {
  const std::size_t size = get<std::uint16_t>(member.central, 28);
  if (member.local.size() < kLocalBytes + size || get<std::uint16_t>(member.local, 26) != size)
    return;
  std::string name = mutated(member.central.substr(kCentralBytes, size), size);
  name.resize(size, 'x');
  member.central.replace(kCentralBytes, size, name);
  member.local.replace(kLocalBytes, size, name);
}

void mutate_content(Member& member, std::size_t max_growth, bool as_stored) {
  std::optional<std::string> content;
  if (member.is_deflated() && !as_stored) content = inflated(member.stored);
  if (content) {
    member.stored = deflated(mutated(std::move(*content), content->size() + max_growth));
  } else {
    member.stored = mutated(member.stored, member.stored.size() + max_growth);
  }
  repair(member);
}

}  // namespace

std::size_t mutate_archive(std::uint8_t* data,
                           std::size_t size,
                           std::size_t max_size,
                           unsigned int seed) {
  std::minstd_rand random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const auto choice = below(16);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::optional<Archive> archive;
  if (choice >= 2) archive = parse(bytes);
  if (!archive) return LLVMFuzzerMutate(data, size, max_size);

  const std::size_t max_growth = max_size - std::min(size, max_size);
  std::vector<Member>& members = archive->members;
  Member& member = members[below(members.size())];
  if (choice < 4) {
    // As bytes, and put right.
    size = LLVMFuzzerMutate(data, size, max_size);
    archive = parse({reinterpret_cast<const char*>(data), size});
    if (!archive) return size;
    for (Member& damaged : archive->members) repair(damaged);
  } else if (choice == 4) {
    mutate_name(member);
  } else if (choice == 5) {
    members.push_back(member);
    mutate_name(members.back());
  } else if (choice == 6 && members.size() > 1) {
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(below(members.size())));
  } else if (choice == 7) {
    member.central = mutated(std::move(member.central), 0);
  } else {
    mutate_content(member, max_growth, choice == 8);
  }
  const std::string result = serialise(std::move(*archive));
  if (result.size() > max_size) return size;
  std::ranges::copy(result, data);
  return result.size();
}

}  // namespace hesscope::fuzz
