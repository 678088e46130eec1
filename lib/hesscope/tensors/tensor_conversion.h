// SPDX-License-Identifier: BSD-3-Clause
//
// A tensor file in another format.
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
  std::string_view format;  ///< that was written, as the registry lists it
  std::vector<ConvertedTensor> tensors = {};
  std::vector<std::string> notes = {};  ///< what the output says differently or not, for people
};

/// Writes all tensors of `input` to `output`, in the format of its extension: whole or not at all,
/// the same bytes for the same input. Elements keep their type where the format has it; bfloat16 is
/// widened to float32 where not, which loses nothing.
/// @param float_type  kFloat32 or kFloat64, which all floating-point tensors become: float32 rounds
///                    to nearest, which makes 0 of what is too small for it. None keeps each as
///                    it is.
/// @throws ConfigError for an extension of no format that is written; InputError for damaged input;
///         OutputError naming file and tensor: what the format cannot hold, or the disk.
/// @cost   all numbers as doubles, and the output, in memory.
Conversion convert_tensors(const TensorFile& input,
                           const std::filesystem::path& output,
                           std::optional<ElementType> float_type = std::nullopt,
                           Existing existing = Existing::kRefuse);

}  // namespace hesscope::io
