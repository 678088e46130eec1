// SPDX-License-Identifier: BSD-3-Clause
//
// Digests, as `sha256sum` prints them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hesscope::io {

/// Hexadecimal SHA-256 of the file's bytes. @throws InputError if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

/// Hexadecimal SHA-256 of a byte string.
std::string sha256_of_text(std::string_view text);

/// Hexadecimal SHA-256 of numbers as 64-bit floats, low bytes first.
std::string sha256_of_numbers(std::span<const double> numbers);

}  // namespace hesscope::io
