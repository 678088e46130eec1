// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/noise/internal/gradient_blocks.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;

Index gradient_block_size(Index num_parameters) {
  constexpr Index kNumbers = Index{1} << 22;
  return std::clamp<Index>(kNumbers / num_parameters, 64, 4096);
}

void for_gradient_blocks(const Objective& objective,
                         const Objective::ConstVectorRef& theta,
                         SampleRange range,
                         const std::function<void(MatrixXd&, SampleRange)>& body) {
  const Index size = gradient_block_size(objective.num_parameters());
  for (Index first = range.begin; first < range.end; first += size) {
    const SampleRange samples = {first, std::min(first + size, range.end)};
    MatrixXd gradients = objective.per_sample_gradients(theta, samples);
    body(gradients, samples);
  }
}

// One task per block of columns: it computes the rows from the diagonal block down and writes them
// and their mirror image; no two tasks write the same entry.
void add_outer_products(const MatrixXd& d, MatrixXd& sum, const Executor& executor) {
  constexpr Index kWidth = 64;
  const Index n = d.rows();
  executor.for_each((n + kWidth - 1) / kWidth, [&](Index group) {
    const Index first = group * kWidth;
    const Index width = std::min(kWidth, n - first);
    const MatrixXd product =
        d.middleRows(first, n - first) * d.middleRows(first, width).transpose();
    for (Index k = 0; k < width; ++k) {
      for (Index i = first + k; i < n; ++i) {
        const double entry = sum(i, first + k) + product(i - first, k);
        sum(i, first + k) = entry;
        sum(first + k, i) = entry;
      }
    }
  });
}

}  // namespace hesscope::detail
