// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/noise/internal/outer_products.h>

namespace hesscope::detail {

using Eigen::Index;
using Eigen::MatrixXd;

// One task per block of columns: it computes the rows from the diagonal block down and writes them
// and their mirror image; no two tasks write the same entry.
void add_outer_products(const MatrixXd& d, MatrixXd& sum, const Executor& executor) {
  constexpr Index kWidth = 64;
  const Index n = d.rows();
  executor.for_each(ceil_div(n, kWidth), [&](Index group) {
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
