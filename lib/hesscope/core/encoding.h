// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes inside of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hesscope {

/// Bytes as text of letters, digits, + and /, padded by = to a multiple of four (RFC 4648, 4).
std::string base64(std::span<const std::byte> bytes);

/// Bytes packed as by gzip (RFC 1952), without a name and a time.
std::vector<std::byte> gzipped(std::span<const std::byte> bytes);

}  // namespace hesscope
