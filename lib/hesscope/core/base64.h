// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hesscope {

/// Bytes as text of letters, digits, + and /, padded by = to a multiple of four (RFC 4648, 4).
std::string base64(std::span<const std::byte> bytes);

}  // namespace hesscope
