// SPDX-License-Identifier: BSD-3-Clause
//
// Invariances that act on units: rescalings and changes of basis from one tensor to the next.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/invariance.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/objective/internal/gradient_points.h>

namespace hesscope::detail {

/// Terms of one sum; with more than these, rescalings alone are looked for.
constexpr std::size_t kMaxUnitTerms = 160;

/// Sums over tensors of terms <T_i, dl/dT_j> that vanish, T_i being the slice of a tensor at unit i
/// of `units` (unit_views()).
/// @param max_units  beyond these, rescalings (i = j) alone are looked for.
/// @cost  for T views decompositions of units^2 / 2 matrices of 2 T columns.
std::vector<Invariance> unit_families(std::span<const ParameterBlock> blocks,
                                      const SearchPoints& points,
                                      Eigen::Index units,
                                      Eigen::Index max_units);

}  // namespace hesscope::detail
