// SPDX-License-Identifier: BSD-3-Clause
//
// The distribution of numbers as a line of characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/plot/scale.h>

namespace hesscope::cli {

/// A character for each of `width` equal parts of the scale, whose height is the square root of the
/// number of values there; a blank if there are none. Values outside of the scale are left out.
/// @param with_unicode  bars of eight heights; else .:-=+*#@
std::string sparkline(const plot::Scale& scale,
                      std::span<const double> values,
                      std::size_t width,
                      bool with_unicode);

/// A line above such lines: the numbers at both ends and, if there is room, zero.
std::string sparkline_ruler(const plot::Scale& scale, std::size_t width);

}  // namespace hesscope::cli
