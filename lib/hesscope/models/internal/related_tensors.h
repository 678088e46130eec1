// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/models/tensor_copies.h>

namespace hesscope::detail {

/// Of each tensor, another one that it seems to be computed from, the first there is: a row or a
/// column of one is a row or a column of the other, or one is a multiple of the other, as it is or
/// transposed, to the rounding of 32 bits. Lines of less than three numbers, of six where 16 bits
/// hold them, and those of numbers of one magnitude say nothing.
/// @cost  sorts all rows and columns.
std::vector<std::optional<std::size_t>> related_tensors(std::span<const ShapedNumbers> tensors);

}  // namespace hesscope::detail
