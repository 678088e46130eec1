// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy's array format (.npy), versions 1.0, 2.0 and 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

struct NpyHeader {
  std::vector<std::int64_t> shape;
  ElementType type = ElementType::kFloat64;
  ByteOrder byte_order = ByteOrder::kLittle;
  bool is_fortran_order = false;
  std::size_t header_bytes = 0;  ///< before the first element
  std::size_t num_elements = 0;
  /// Why the elements cannot be read, as in an UnreadableTensor whose name the caller must set;
  /// `type` and `byte_order` are then meaningless.
  std::optional<UnreadableTensor> unreadable;
};

/// Reads the header, leaving the stream at the first element.
///
/// Checks that the array is within the limits and, if its dtype determines its length, that it is
/// as long as the stream says: elements can be allocated safely afterwards.
/// @throws InputError "<stream.where()>: ..." with the byte of the .npy, for a damaged header,
///         Python objects, or a type that NumPy does not have.
NpyHeader read_npy_header(ByteStream& stream, const ReadLimits& limits);

/// Reads all elements, row-major whatever the stored order, and finishes the stream. `stream` is at
/// the header, which `header` describes. @throws InputError also if it is unreadable.
std::vector<double> read_npy(ByteStream& stream, const NpyHeader& header);

}  // namespace hesscope::io
