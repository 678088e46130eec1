// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

PointSweep::~PointSweep() = default;

const TangentKernels& tangent_kernels(InstructionSet set) {
  return HESSCOPE_KERNELS(tangent_kernels, set);
}

int num_coefficients(const Graph::Node& node,
                     const Derivatives& derivatives,
                     std::span<const Graph::Node> nodes) {
  const auto size = static_cast<int>(node.size());
  const auto a_size =
      node.a < 0 ? 0 : static_cast<int>(nodes[static_cast<std::size_t>(node.a)].size());
  switch (node.op) {
    case Graph::Op::kElementary:
    case Graph::Op::kDivide:
      return size * derivatives.count_before(kNumDerivatives);
    case Graph::Op::kSoftmaxRows:
    case Graph::Op::kSelect:
      return size;
    case Graph::Op::kStandardizeRows:
      return size + 3 * static_cast<int>(node.rows);
    case Graph::Op::kMaxRows:
      return a_size;
    case Graph::Op::kLogSumExpRows:
      return 2 * a_size + size;
    case Graph::Op::kCrossEntropyRows:
      return 3 * a_size + size;
    default:
      return 0;
  }
}

}  // namespace hesscope::detail
