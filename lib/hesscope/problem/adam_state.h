// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <Eigen/Core>

namespace hesscope {

/// What Adam remembers of squared gradients, as a checkpoint holds it beside the parameters.
struct AdamState {
  /// v, n numbers >= 0: the moving average of squared gradients, not corrected for its start at
  /// zero.
  Eigen::VectorXd second_moments = {};
  std::optional<std::int64_t> step = {};  ///< t, the number of updates made; at least 1
  /// Why what is stored cannot be assigned to the parameters; then second_moments is empty.
  std::string obstacle = {};
};

}  // namespace hesscope
