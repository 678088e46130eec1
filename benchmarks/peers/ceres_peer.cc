// SPDX-License-Identifier: BSD-3-Clause
//
// Nested ceres::Jets. With all parameters at once, a number would take megabytes. So twelve
// parameters are the variables of the outer Jets and twelve those of the inner ones, for each pair
// of such groups on and below the diagonal. Pairs run on threads.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <ceres/version.h>

#include <hesscope/core/executor.h>

#include "nested_ceres.h"
#include "peer.h"

namespace hesscope::bench {
namespace {

constexpr int kBlock = 12;

template <typename Loss>
Eigen::MatrixXd hessian_of(const Loss& loss, const Problem& problem, int num_threads) {
  const Eigen::Index n = problem.theta.size();
  std::vector<std::pair<Eigen::Index, Eigen::Index>> pairs;
  for (Eigen::Index i = 0; i < n; i += kBlock) {
    for (Eigen::Index j = 0; j <= i; j += kBlock) pairs.emplace_back(i, j);
  }
  Eigen::MatrixXd h(n, n);
  const Executor executor(num_threads);
  executor.for_each(static_cast<Eigen::Index>(pairs.size()), [&](Eigen::Index pair) {
    const auto [row, column] = pairs[static_cast<std::size_t>(pair)];
    const auto within = [](Eigen::Index i, Eigen::Index first) {
      return i >= first && i < first + kBlock ? static_cast<int>(i - first) : -1;
    };
    VectorOf<NestedJet<kBlock>> theta(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      theta(i) = nested_variable<kBlock>(problem.theta(i), within(i, row), within(i, column));
    }
    Eigen::Matrix<double, kBlock, kBlock> sum = Eigen::Matrix<double, kBlock, kBlock>::Zero();
    for (Eigen::Index s = 0; s < problem.samples.rows(); ++s) {
      const NestedJet<kBlock> y = loss(theta, problem.samples.row(s).data());
      for (int i = 0; i < kBlock; ++i) sum.row(i) += y.v(i).v;
    }
    const Eigen::Index num_rows = std::min<Eigen::Index>(kBlock, n - row);
    const Eigen::Index num_columns = std::min<Eigen::Index>(kBlock, n - column);
    const Eigen::MatrixXd mean =
        sum.topLeftCorner(num_rows, num_columns) / static_cast<double>(problem.samples.rows());
    h.block(row, column, num_rows, num_columns) = mean;
    h.block(column, row, num_columns, num_rows) = mean.transpose();
  });
  return h;
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  using namespace hesscope::bench;
  return run_peer(argc,
                  argv,
                  "nested ceres::Jet " CERES_VERSION_STRING,
                  true,
                  [](const PeerProblem& peer_problem, const Problem& problem, int num_threads) {
                    return std::visit(
                        [&](const auto& loss) { return hessian_of(loss, problem, num_threads); },
                        peer_problem.loss);
                  });
}
