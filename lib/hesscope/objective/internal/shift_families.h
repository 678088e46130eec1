// SPDX-License-Identifier: BSD-3-Clause
//
// Invariances that add numbers to parameters.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <hesscope/core/invariance.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/objective/internal/gradient_points.h>

namespace hesscope::detail {

/// The most terms of a sum of shared_shifts().
std::size_t most_shift_terms(std::span<const ParameterBlock> blocks);

/// A number added to all units of an axis: what softmax, or normalisation after it, does not see.
std::vector<Invariance> axis_shifts(std::span<const ParameterBlock> blocks,
                                    const SearchPoints& points);

/// A number added to an entry of one tensor and taken from that of another of the same size: two
/// biases of one sum.
std::vector<Invariance> pair_shifts(std::span<const ParameterBlock> blocks,
                                    const SearchPoints& points);

/// A vector added to some rows of tensors and taken from others: embeddings of tokens and of
/// positions, a class token and the first position; or added to a vector and, times a matrix that
/// the vector is multiplied by, taken from a bias: the bias of values and that of what they are
/// projected to.
///   sum_r c_r dl/dr_k + sum_(W, b) c_Wb sum_i W_ik dl/db_i = 0   for each k.
std::vector<Invariance> shared_shifts(std::span<const ParameterBlock> blocks,
                                      const SearchPoints& points);

/// Anything added to a parameter that has no effect, but for the rounding of its gradient: a bias
/// of keys, which adds the same to all scores of a query.
std::vector<Invariance> shifts_without_effect(std::span<const ParameterBlock> blocks,
                                              const SearchPoints& points);

}  // namespace hesscope::detail
