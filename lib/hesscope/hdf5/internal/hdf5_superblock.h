// SPDX-License-Identifier: BSD-3-Clause
//
// Where the superblock of an HDF5 file begins, relative to which its addresses count: at the start
// of the file, or behind a user block of 512 * 2^k bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <hesscope/storage/input_file.h>

namespace hesscope::io {

std::optional<std::uint64_t> find_superblock(const InputFile& file);

/// The same for the bytes of a file.
std::optional<std::uint64_t> find_superblock(std::span<const std::byte> image);

}  // namespace hesscope::io
