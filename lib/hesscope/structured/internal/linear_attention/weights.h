// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/structured/internal/linear_attention/network.h>
#include <hesscope/structured/linear_attention_structure.h>

namespace hesscope::detail {

struct LinearAttentionWeights;

struct LinearAttentionSizes {
  Eigen::Index layers;
  Eigen::Index extent;   ///< e
  Eigen::Index trained;  ///< the trained part of P and Q is the leading trained x trained one
  Eigen::Index context;  ///< n
  Eigen::Index z_offset;
  Eigen::Index target_offset;

  explicit LinearAttentionSizes(const LinearAttentionStructure& structure);

  /// 2 layers trained^2, in the order P_0, Q_0, P_1, ...
  Eigen::Index num_parameters() const { return 2 * layers * trained * trained; }

  /// As passed to kernels, without weights or with some that must outlive it.
  LinearAttentionNetwork network() const;
  LinearAttentionNetwork network(const LinearAttentionWeights& weights) const;
};

/// P / n and Q of every layer, layers x e x e, row-major.
struct LinearAttentionWeights {
  LinearAttentionWeights(const LinearAttentionStructure& structure, std::span<const double> theta);

  std::vector<double> p;
  std::vector<double> q;
};

}  // namespace hesscope::detail
