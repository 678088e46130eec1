// SPDX-License-Identifier: BSD-3-Clause
//
// Which axes of tensors may be those of the same units, and what a swap of two units does on each.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/parameter_block.h>
#include <hesscope/objective/internal/unit_views.h>

namespace hesscope::detail {

/// A way to see units on a tensor, and what a swap of the first two of them does.
struct UnitCandidate {
  UnitView view;
  std::vector<Eigen::Index>
      swap;  ///< where it takes each parameter of the tensor, counted within it

  Eigen::VectorXd swapped(const Eigen::VectorXd& theta) const;
};

/// Candidates of all tensors whose swaps are independent: a direction can change its sign under one
/// of them and keep it under the others.
using UnitReading = std::vector<UnitCandidate>;

/// For each width that units can have, all tensors in their first reading with such units, all in
/// their second, and so on; the first where a tensor has no more. What goes together is as wide, as
/// the heads of queries and those of what projects them back, or can be read in one way alone.
std::vector<UnitReading> unit_readings(std::span<const ParameterBlock> blocks, Eigen::Index units);

}  // namespace hesscope::detail
