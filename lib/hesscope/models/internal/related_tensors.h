// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/models/tensor_copies.h>

namespace hesscope::detail {

/// For each tensor, the first other one from which it seems to be computed: a row or a column of
/// one is a row or a column of the other, or one is a multiple of the other, possibly transposed,
/// to the rounding of 32 bits. Lines with fewer than three numbers, or fewer than six if 16 bits
/// can hold them, and lines whose numbers have equal magnitudes are inconclusive.
/// @cost  sorts all rows and columns.
std::vector<std::optional<std::size_t>> related_tensors(std::span<const ShapedNumbers> tensors);

}  // namespace hesscope::detail
