// SPDX-License-Identifier: BSD-3-Clause
//
// Element types as named in safetensors files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// The element type of a "dtype", if it is supported.
std::optional<ElementType> safetensors_type(std::string_view name);

/// Bits per element of an unsupported "dtype" that the format defines.
std::optional<std::uint64_t> odd_safetensors_bits(std::string_view name);

/// "F32".
std::string_view safetensors_name(ElementType type);

/// All names, for messages.
std::vector<std::string_view> safetensors_type_names();

}  // namespace hesscope::io
