// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hesscope {

/// "(2, 4, 3)", "(5,)", "()": as NumPy prints shapes.
std::string shape_text(std::span<const std::int64_t> shape);
std::string shape_text(std::span<const unsigned long long> shape);

}  // namespace hesscope
