// SPDX-License-Identifier: BSD-3-Clause
//
// What all readers share about tensors: checks before allocation, and stored elements to double.
// Private to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/io/byte_order.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// Number of elements of a tensor, found to be within the limits: its rank, and its size as
/// doubles. Zero extents count as one for the latter, so that no product of extents can overflow
/// later.
/// @throws InputError "<where>: ...". Allocates nothing.
std::size_t checked_num_elements(const std::string& where,
                                 std::span<const std::int64_t> shape,
                                 const ReadLimits& limits);

/// Refuses data that claims to be far larger than what is stored for it.
/// @throws InputError "<where>: ..."
void check_expansion(const std::string& where,
                     std::uint64_t decoded_bytes,
                     std::uint64_t stored_bytes,
                     const ReadLimits& limits);

/// Room for the elements of one tensor. @throws InputError "<where>: ..." when there is no memory.
std::vector<double> allocate_elements(const std::string& where, std::size_t num_elements);

/// Converts out.size() stored elements; in.size() = out.size() * size_of(type).
/// @throws InputError "<where>: ..." for an integer beyond 2^53, or a boolean other than 0 and 1;
///         `first` is the index, in stored order, of the first of these elements.
void decode_elements(const std::string& where,
                     ElementType type,
                     ByteOrder order,
                     std::span<const std::byte> in,
                     std::span<double> out,
                     std::size_t first);

/// The integer as a double. @throws InputError naming `where` and `index` if |value| > 2^53.
double exact_double(const std::string& where, std::int64_t value, std::size_t index);
double exact_double(const std::string& where, std::uint64_t value, std::size_t index);

/// IEEE 754 binary16 to double, exactly.
double half_to_double(std::uint16_t bits);

}  // namespace hesscope::io
