// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of what a file declares, before memory is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/storage/read_limits.h>

namespace hesscope::io {

/// Number of elements of a tensor, after checking that its rank and its size as doubles are within
/// the limits. Zero extents count as one for the latter, so that no product of extents can overflow
/// later.
/// @throws InputError "<where>: ...". Allocates nothing.
std::size_t checked_num_elements(const std::string& where,
                                 std::span<const std::int64_t> shape,
                                 const ReadLimits& limits);

/// Refuses data that claim to be far larger than what is stored for them.
/// @throws InputError "<where>: ..."
void check_expansion(const std::string& where,
                     std::uint64_t decoded_bytes,
                     std::uint64_t stored_bytes,
                     const ReadLimits& limits);

/// Allocates the elements of one tensor. @throws InputError "<where>: ..." if there is no memory.
std::vector<double> allocate_elements(const std::string& where, std::size_t num_elements);

}  // namespace hesscope::io
