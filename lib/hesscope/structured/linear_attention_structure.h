// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// How linear attention on linear regression (models/linear_attention.h) is built, and where its
/// arrays are located in a record.
struct LinearAttentionStructure {
  enum class Parametrization { kSparse, kFull, kSplitQk };

  Eigen::Index layers = 1;
  Eigen::Index dimension = 1;  ///< d
  Eigen::Index context = 1;    ///< n
  Parametrization parametrization = Parametrization::kFull;
  Eigen::Index z_offset = 0;  ///< of Z, (d + 1) x (n + 1), in a record
  Eigen::Index target_offset = 0;
};

}  // namespace hesscope
