// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of tensor files between formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

struct ConvertedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  ElementType from;  ///< as stored in the input
  ElementType to;
};

struct Conversion {
  std::string_view format;  ///< of the output, as the registry lists it
  std::vector<ConvertedTensor> tensors = {};
  std::vector<std::string> notes = {};  ///< for people: what the output lacks or expresses anew
};

/// Writes all tensors of `input` to `output`, in the format of its extension; completely or not at
/// all, and with the same bytes for the same input. Elements keep their type if the format supports
/// it; otherwise bfloat16 is widened to float32, which is exact.
/// @param float_type  kFloat32 or kFloat64, to which all floating-point tensors are converted:
///                    float32 rounds to nearest, so that numbers too small for it become 0. If
///                    absent, all keep their type.
/// @throws ConfigError if the extension belongs to no writable format; InputError for damaged
///         input; OutputError naming file and tensor, if the format cannot hold something or
///         writing fails.
/// @cost   all numbers as doubles, and the output, in memory.
Conversion convert_tensors(const TensorFile& input,
                           const std::filesystem::path& output,
                           std::optional<ElementType> float_type = std::nullopt,
                           Existing existing = Existing::kRefuse);

}  // namespace hesscope::io
