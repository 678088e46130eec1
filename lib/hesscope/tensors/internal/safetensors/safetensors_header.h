// SPDX-License-Identifier: BSD-3-Clause
//
// The JSON header of a safetensors file as written; it is not yet compared with the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

struct SafetensorsEntry {
  std::string name;
  std::string type = {};  ///< "F32"
  std::vector<std::int64_t> shape = {};
  std::uint64_t begin = 0;   ///< bytes from the start of the data
  std::uint64_t end = 0;     ///< one past the last
  std::uint64_t offset = 0;  ///< of the entry, in the file, for messages
};

/// Parses a header. The result is bounded by the length of the text and the limits.
/// @param where   the file, for messages.
/// @param offset  byte of the file at which `text` begins.
/// @throws InputError "<where>: ..." naming the tensor and the byte of the file: text that is not
///         one JSON object, possibly surrounded by white space; a tensor with missing, repeated or
///         unknown fields; a key that occurs twice; metadata other than text.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text,
                                                       const std::string& where,
                                                       std::uint64_t offset,
                                                       const ReadLimits& limits);

}  // namespace hesscope::io
