// SPDX-License-Identifier: BSD-3-Clause
//
// Zip archives by hand. Needs zlib.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace hesscope::test {

// Zip is little-endian, like every machine on which the tests run.
template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// An archive with these members, name and content, stored as they are.
inline std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive;
  std::string directory;
  for (const auto& [name, data] : members) {
    const auto size = static_cast<std::uint32_t>(data.size());
    std::string common;
    append(common, std::uint16_t{20});          // version needed
    append(common, std::uint16_t{0});           // flags
    append(common, std::uint16_t{0});           // stored
    append(common, std::uint32_t{0x00210000});  // 1980-01-01
    append(
        common,
        static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(data.data()), size)));
    append(common, size);
    append(common, size);
    append(common, static_cast<std::uint16_t>(name.size()));
    append(common, std::uint16_t{0});  // extra
    const auto offset = static_cast<std::uint32_t>(archive.size());
    archive += "PK\x03\x04" + common + name + data;
    directory += "PK\x01\x02";
    append(directory, std::uint16_t{20});  // version made by
    directory += common;
    directory.append(10, '\0');  // comment length, disk, attributes
    append(directory, offset);
    directory += name;
  }
  const auto count = static_cast<std::uint16_t>(members.size());
  const auto start = static_cast<std::uint32_t>(archive.size());
  archive += directory + "PK\x05\x06";
  append(archive, std::uint32_t{0});
  append(archive, count);
  append(archive, count);
  append(archive, static_cast<std::uint32_t>(directory.size()));
  append(archive, start);
  append(archive, std::uint16_t{0});
  return archive;
}

}  // namespace hesscope::test
