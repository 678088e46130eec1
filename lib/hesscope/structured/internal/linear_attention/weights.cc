// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/structured/internal/linear_attention/weights.h>

namespace hesscope::detail {

using Eigen::Index;
using Parametrization = LinearAttentionStructure::Parametrization;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

LinearAttentionSizes::LinearAttentionSizes(const LinearAttentionStructure& structure)
    : layers(structure.layers),
      extent(structure.dimension + 1),
      trained(structure.parametrization == Parametrization::kSparse ? structure.dimension
                                                                    : structure.dimension + 1),
      context(structure.context),
      z_offset(structure.z_offset),
      target_offset(structure.target_offset) {}

LinearAttentionNetwork LinearAttentionSizes::network() const {
  return {.e = static_cast<int>(extent),
          .layers = static_cast<int>(layers),
          .trained = static_cast<int>(trained),
          .context = static_cast<int>(context),
          .p = nullptr,
          .q = nullptr};
}

LinearAttentionNetwork LinearAttentionSizes::network(const LinearAttentionWeights& weights) const {
  LinearAttentionNetwork network = this->network();
  network.p = weights.p.data();
  network.q = weights.q.data();
  return network;
}

LinearAttentionWeights::LinearAttentionWeights(const LinearAttentionStructure& structure,
                                               std::span<const double> theta) {
  const LinearAttentionSizes sizes(structure);
  const Index e = sizes.extent;
  const Index m = sizes.trained;
  p.resize(static_cast<std::size_t>(sizes.layers * e * e));
  q.resize(p.size());
  const double* next = theta.data();
  const auto take = [&] {
    const Eigen::Map<const RowMajor> block(next, m, m);
    next += m * m;
    return block;
  };
  for (Index l = 0; l < sizes.layers; ++l) {
    Eigen::Map<RowMajor> layer_p(p.data() + l * e * e, e, e);
    Eigen::Map<RowMajor> layer_q(q.data() + l * e * e, e, e);
    layer_p.topLeftCorner(m, m) = take();
    layer_q.topLeftCorner(m, m) = take();
    if (structure.parametrization == Parametrization::kSparse) layer_p(e - 1, e - 1) = 1;
    if (structure.parametrization == Parametrization::kSplitQk) {
      layer_q = RowMajor(take().transpose() * layer_q);
    }
    layer_p /= static_cast<double>(sizes.context);
  }
}

}  // namespace hesscope::detail
