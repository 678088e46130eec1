// SPDX-License-Identifier: BSD-3-Clause
//
// Pickles and PyTorch checkpoints by hand, instruction by instruction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/files.h"
#include "support/zip_writer.h"

namespace hesscope::test {

/// Instructions for protocol 2, from PROTO to STOP.
inline std::string pickle(const std::string& instructions) {
  return "\x80\x02" + instructions + ".";
}

inline std::string text(const std::string& value) {
  std::string bytes = "X";
  append(bytes, static_cast<std::uint32_t>(value.size()));
  return bytes + value;
}

inline std::string integer(std::int64_t value) {
  std::string bytes = "\x8a\x08";
  append(bytes, value);
  return bytes;
}

inline std::string tuple(const std::vector<std::int64_t>& values) {
  std::string bytes = "(";
  for (const std::int64_t value : values) bytes += integer(value);
  return bytes + "t";
}

/// A storage of the member data/KEY.
inline std::string storage(const std::string& key,
                           std::int64_t num_elements,
                           const std::string& type = "torch\nDoubleStorage") {
  return "(" + text("storage") + "c" + type + "\n" + text(key) + text("cpu") +
         integer(num_elements) + "tQ";
}

inline std::string tensor(const std::string& storage,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides,
                          std::int64_t offset = 0) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(offset) + tuple(shape) +
         tuple(strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
}

/// A dict of these keys and values.
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes = "}(";
  for (const auto& [key, value] : entries) bytes += text(key) + value;
  return bytes + "u";
}

/// Two doubles, 1 and 2, in storage 0; instructions for them.
inline std::string two_doubles() { return tensor(storage("0", 2), {2}, {1}); }

inline std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

/// A checkpoint with this data.pkl, and `data` in the member data/0.
inline void write_torch(const std::filesystem::path& path,
                        const std::string& pickled,
                        const std::string& data = bytes_of({1, 2})) {
  write_bytes(
      path,
      zip_bytes(
          {{"archive/data.pkl", pickled}, {"archive/data/0", data}, {"archive/version", "3\n"}}));
}

}  // namespace hesscope::test
