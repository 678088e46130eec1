// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by `blocks` and `ggn`.
#pragma once

#include <span>

#include <Eigen/Core>

#include <hesscope/core/internal/norms.h>
#include <hesscope/core/parameter_block.h>

namespace hesscope {

/// Frobenius norms of the parts of a matrix that belong to pairs of parameter tensors: one row and
/// one column for each tensor.
inline Eigen::MatrixXd block_norms(const Eigen::MatrixXd& matrix,
                                   std::span<const ParameterBlock> blocks) {
  const auto count = static_cast<Eigen::Index>(blocks.size());
  Eigen::MatrixXd norms(count, count);
  for (Eigen::Index b = 0; b < count; ++b) {
    for (Eigen::Index c = 0; c < count; ++c) {
      const ParameterBlock& rows = blocks[static_cast<std::size_t>(b)];
      const ParameterBlock& cols = blocks[static_cast<std::size_t>(c)];
      norms(b, c) = detail::norm(matrix.block(rows.offset, cols.offset, rows.size, cols.size));
    }
  }
  return norms;
}

}  // namespace hesscope
