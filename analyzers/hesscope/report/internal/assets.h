// SPDX-License-Identifier: BSD-3-Clause
//
// The files of assets/, as they were when the library was built.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hesscope::report {

std::string_view style_sheet();  ///< page.css
std::string_view scripts();      ///< figures.js, then page.js

/// A bundle of plotly.js.
struct Bundle {
  std::span<const std::byte> archive;  ///< packed by gzip
  std::string_view digest;  ///< SHA-256 of the unpacked bytes, hexadecimal; also its name
};

Bundle plotly_flat();    ///< figures in a plane
Bundle plotly_raised();  ///< surfaces

}  // namespace hesscope::report
