// SPDX-License-Identifier: BSD-3-Clause
//
// A list of tensors as bytes from an untrusted process.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

struct TensorListing {
  std::vector<TensorInfo> tensors;
  std::vector<UnreadableTensor> unreadable;
};

std::string encode_listing(std::span<const TensorInfo> tensors,
                           std::span<const UnreadableTensor> unreadable);

/// The size of the longest listing within the limits.
std::size_t max_listing_bytes(const ReadLimits& limits);

/// @returns nothing for bytes that encode_listing() cannot have written within the limits, with
///          reasons of at most 500 bytes.
/// @throws InputError "<where>: ..." for a tensor beyond the limits.
std::optional<TensorListing> decode_listing(const std::string& where,
                                            std::string_view bytes,
                                            const ReadLimits& limits);

}  // namespace hesscope::io
