// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hesscope::io {

/// The bytes of an IDX file, row-major.
struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values;
  std::string sha256;  ///< of the file's bytes
};

/// Reads an IDX file of unsigned bytes, the format of MNIST: the bytes 0, 0, 8, rank; the extents
/// as big-endian 32-bit integers; the values. Nothing is allocated before the file's size has been
/// found to agree with its header.
/// @param rank     the required number of extents.
/// @param extents  what they are, for messages: "images, rows, columns".
/// @throws InputError naming the file: missing, compressed, of another type or rank, longer or
///         shorter than its header says, an extent of zero, above 2^32 bytes.
/// @source Y. LeCun, "The MNIST database of handwritten digits".
IdxArray read_idx(const std::filesystem::path& path, std::size_t rank, const std::string& extents);

}  // namespace hesscope::io
