// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <zlib.h>

#include "support/files.h"

namespace hesscope::test {

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row-major; may be shorter than the shape says, the rest is 0
};

// Zip and .npy are little-endian, as every machine the tests run on.
template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

inline std::string npy_bytes(const Tensor& tensor) {
  std::string shape;
  std::size_t size = 1;
  for (const std::int64_t extent : tensor.shape) {
    shape += std::to_string(extent) + ",";
    size *= static_cast<std::size_t>(extent);
  }
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ') += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  append(bytes, static_cast<std::uint16_t>(header.size()));
  bytes += header;
  std::vector<double> values = tensor.values;
  values.resize(size);
  bytes.append(reinterpret_cast<const char*>(values.data()), size * sizeof(double));
  return bytes;
}

/// Writes tensors of float64 as NumPy's savez does: a zip archive of stored .npy members.
inline void write_npz(const std::filesystem::path& path,
                      const std::map<std::string, Tensor>& tensors) {
  std::string archive;
  std::string directory;
  for (const auto& [key, tensor] : tensors) {
    const std::string name = key + ".npy";
    const std::string data = npy_bytes(tensor);
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
  const auto count = static_cast<std::uint16_t>(tensors.size());
  const auto start = static_cast<std::uint32_t>(archive.size());
  archive += directory + "PK\x05\x06";
  append(archive, std::uint32_t{0});
  append(archive, count);
  append(archive, count);
  append(archive, static_cast<std::uint32_t>(directory.size()));
  append(archive, start);
  append(archive, std::uint16_t{0});
  write_bytes(path, archive);
}

}  // namespace hesscope::test
