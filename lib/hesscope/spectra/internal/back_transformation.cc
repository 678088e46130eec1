// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <vector>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/lapack_call.h>
#include <hesscope/spectra/internal/back_transformation.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index kReflectorsPerBlock = 64;
constexpr Index kColumnsPerPanel = 128;

}  // namespace

// Q = H_0 H_1 ... H_{n-2}; the vector of H_j is in column j of `reduced`, from row j + 1 on, and
// begins with an implied 1. A block of b of them is I - V S V^T with a triangular S, b x b.
void apply_q(const MatrixXd& reduced,
             const Eigen::VectorXd& tau,
             MatrixXd& z,
             const Executor& executor,
             const ProgressCallback& progress) {
  const Index n = reduced.rows();
  const Index num_reflectors = n - 1;
  const Index num_blocks = ceil_div(num_reflectors, kReflectorsPerBlock);
  const auto block_size = [&](Index block) {
    return std::min(kReflectorsPerBlock, num_reflectors - block * kReflectorsPerBlock);
  };
  const auto vectors = [&](Index block) {
    const Index first = block * kReflectorsPerBlock;
    return reduced.data() + first * n + first + 1;
  };
  const auto num_rows = [&](Index block) { return num_reflectors - block * kReflectorsPerBlock; };

  std::vector<MatrixXd> s(static_cast<std::size_t>(num_blocks));
  executor.for_each(num_blocks, [&](Index block) {
    MatrixXd& mine = s[static_cast<std::size_t>(block)];
    mine.resize(block_size(block), block_size(block));
    succeeded("dlarft",
              LAPACKE_dlarft_work(LAPACK_COL_MAJOR,
                                  'F',
                                  'C',
                                  to_lapack(num_rows(block)),
                                  to_lapack(block_size(block)),
                                  vectors(block),
                                  to_lapack(n),
                                  tau.data() + block * kReflectorsPerBlock,
                                  mine.data(),
                                  to_lapack(block_size(block))));
  });

  const Index num_panels = ceil_div(z.cols(), kColumnsPerPanel);
  ProgressCounter counter(progress, num_panels * num_blocks);
  executor.for_each(num_panels, [&](Index panel) {
    const Index first_column = panel * kColumnsPerPanel;
    const Index num_columns = std::min(kColumnsPerPanel, z.cols() - first_column);
    MatrixXd work(num_columns, kReflectorsPerBlock);
    for (Index block = num_blocks - 1; block >= 0; --block) {
      succeeded("dlarfb",
                LAPACKE_dlarfb_work(LAPACK_COL_MAJOR,
                                    'L',
                                    'N',
                                    'F',
                                    'C',
                                    to_lapack(num_rows(block)),
                                    to_lapack(num_columns),
                                    to_lapack(block_size(block)),
                                    vectors(block),
                                    to_lapack(n),
                                    s[static_cast<std::size_t>(block)].data(),
                                    to_lapack(block_size(block)),
                                    z.data() + first_column * n + block * kReflectorsPerBlock + 1,
                                    to_lapack(n),
                                    work.data(),
                                    to_lapack(num_columns)));
      counter.advance();
    }
  });
}

}  // namespace hesscope::detail
