// SPDX-License-Identifier: BSD-3-Clause
//
// The files of assets/ as they were when the library was built.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hesscope::report {

std::string_view style_sheet();  ///< page.css
std::string_view scripts();      ///< figures.js, then page.js

/// plotly.js, by gzip; and the SHA-256 of what it unpacks to, in base64.
std::span<const std::byte> plotly_archive();
std::string_view plotly_digest();

}  // namespace hesscope::report
