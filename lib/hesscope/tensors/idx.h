// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hesscope::io {

/// Bytes of an IDX file, row-major.
struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values;
  std::string sha256;  ///< of the file's bytes
};

/// Reads an IDX file of unsigned bytes, the format of MNIST: bytes 0, 0, 8, rank; the extents as
/// 32-bit integers, high bytes first; the values. Nothing is allocated before the size of the file
/// agrees with its header.
/// @param rank     the number of extents it must have.
/// @param extents  what they are, for messages: "images, rows, columns".
/// @throws InputError naming the file: missing, compressed, of another type or rank, longer or
/// shorter than its header says, an extent of zero, above 2^32 bytes.
/// @source Y. LeCun, "The MNIST database of handwritten digits".
IdxArray read_idx(const std::filesystem::path& path, std::size_t rank, const std::string& extents);

}  // namespace hesscope::io
