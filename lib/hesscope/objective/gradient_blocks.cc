// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {

using Eigen::Index;
using Eigen::MatrixXd;

Index gradient_block_size(const Objective& objective) {
  constexpr Index kNumbers = Index{1} << 22;
  const Index size =
      std::clamp<Index>(kNumbers / std::max<Index>(objective.num_parameters(), 1), 64, 4096);
  return std::min(size, objective.num_samples());
}

void for_gradient_blocks(const Objective& objective,
                         const Objective::ConstVectorRef& theta,
                         SampleRange range,
                         const std::function<void(MatrixXd&, SampleRange)>& body) {
  const Index size = gradient_block_size(objective);
  for (Index first = range.begin; first < range.end; first += size) {
    const SampleRange samples = {first, std::min(first + size, range.end)};
    MatrixXd gradients = objective.per_sample_gradients(theta, samples);
    body(gradients, samples);
  }
}

}  // namespace hesscope
