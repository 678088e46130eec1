// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy's array format (.npy), versions 1.0, 2.0 and 3.0. Private to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/io/byte_order.h>
#include <hesscope/io/input_file.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

struct NpyHeader {
  std::vector<std::int64_t> shape;
  ElementType type = ElementType::kFloat64;
  ByteOrder byte_order = ByteOrder::kLittle;
  bool is_fortran_order = false;
  std::size_t header_bytes = 0;  ///< what stands before the first element
  std::size_t num_elements = 0;
};

/// Reads the header, which leaves the stream at the first element.
///
/// The array is found to be within the limits, and as long as the stream says: elements can be
/// allocated safely afterwards.
/// @throws InputError "<stream.where()>: ..." with the byte of the .npy, for a damaged header or a
/// type that is not a real number.
NpyHeader read_npy_header(ByteStream& stream, const ReadLimits& limits);

/// Reads all elements, row-major whatever the stored order, and finishes the stream. `stream`
/// stands before the header, which `header` describes.
std::vector<double> read_npy(ByteStream& stream, const NpyHeader& header);

}  // namespace hesscope::io
