// SPDX-License-Identifier: BSD-3-Clause
//
// How numbers are spread, in a line of characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/plot/scale.h>

namespace hesscope::cli {

/// A character for each of `width` equal parts of the scale, as high as the root of how many of the
/// values lie there; a blank where none does. Values without a place on the scale are left out.
/// @param with_unicode  bars of eight heights; else .:-=+*#@
std::string sparkline(const plot::Scale& scale,
                      std::span<const double> values,
                      std::size_t width,
                      bool with_unicode);

/// A line above such ones: the numbers at both ends, and zero where it is and has room.
std::string sparkline_ruler(const plot::Scale& scale, std::size_t width);

}  // namespace hesscope::cli
