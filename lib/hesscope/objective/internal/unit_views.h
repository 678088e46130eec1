// SPDX-License-Identifier: BSD-3-Clause
//
// Ways to see a tensor as units: the neurons of a layer, the channels of an image, the head of an
// attention.
#pragma once

#include <set>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/parameter_block.h>

namespace hesscope::detail {

/// Units on an axis of a tensor: front x extent x back entries, units `first`, first + 1, ... of
/// the extent.
struct UnitView {
  const ParameterBlock* block;
  Eigen::Index offset;  ///< the block's, or that of one matrix of a stack
  Eigen::Index front;
  Eigen::Index extent;
  Eigen::Index first;
  Eigen::Index units;
  Eigen::Index back;
  Eigen::Index width = 1;  ///< entries of the tensor's axis that are one unit's

  Eigen::Index entry(Eigen::Index f, Eigen::Index unit, Eigen::Index b) const {
    return offset + (f * extent + first + unit) * back + b;
  }

  /// Row i are the entries of unit i.
  Eigen::MatrixXd slices(const Eigen::Ref<const Eigen::VectorXd>& theta) const;
};

/// All ways to see `units` on an axis: the whole axis; each of its equal parts (queries, keys and
/// values in one tensor); the axis, or each of a few equal parts of it, as units of several entries
/// each (heads; the channels of flattened images with the positions behind them); or channels with
/// the positions in front of them where the parts are too many to be told apart. A stack of
/// matrices, as of heads, is also seen as each of them alone. Of 1 unit the tensor, or the matrix,
/// as a whole.
/// @param max_wide_parts  of how many equal parts of an axis units of several entries may be.
std::vector<UnitView> unit_views(std::span<const ParameterBlock> blocks,
                                 Eigen::Index units,
                                 Eigen::Index max_wide_parts = 1);

/// The lengths that units may have: those of axes, and of their equal parts; 1 first.
std::set<Eigen::Index> unit_counts(std::span<const ParameterBlock> blocks);

}  // namespace hesscope::detail
