// SPDX-License-Identifier: BSD-3-Clause
//
// Encodings of bytes, such as bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hesscope {

/// Bytes as text of letters, digits, + and /, padded with = to a multiple of four (RFC 4648,
/// section 4).
std::string base64(std::span<const std::byte> bytes);

/// Bytes compressed as by gzip (RFC 1952), without file name and time stamp.
std::vector<std::byte> gzipped(std::span<const std::byte> bytes);

}  // namespace hesscope
