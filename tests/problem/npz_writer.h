// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/files.h"
#include "support/zip_writer.h"

namespace hesscope::test {

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row-major; may be shorter than the shape says, the rest is 0
};

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
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, tensor] : tensors) members.emplace_back(name + ".npy", npy_bytes(tensor));
  write_bytes(path, zip_bytes(members));
}

}  // namespace hesscope::test
