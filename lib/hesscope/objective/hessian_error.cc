// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/hessian_error.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope {

Eigen::VectorXd sign_probe(Eigen::Index n) {
  RandomStream random(0, Stream::kTask, 0);
  Eigen::VectorXd probe(n);
  for (double& entry : probe) entry = random.uniform() < 0.5 ? -1 : 1;
  return probe;
}

double hessian_error(const Eigen::MatrixXd& hessian, const Eigen::VectorXd& product) {
  return detail::norm(hessian * sign_probe(hessian.cols()) - product);
}

bool has_small_error(const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& product,
                     double tolerance,
                     const Executor& executor) {
  constexpr Eigen::Index kColumnsOfBlock = 16;
  const Eigen::Index n = hessian.cols();
  const Eigen::VectorXd probe = sign_probe(n);
  Eigen::VectorXd errors(n);
  Eigen::VectorXd norms(n);
  executor.for_each(detail::ceil_div(n, kColumnsOfBlock), [&](Eigen::Index block) {
    const Eigen::Index first = block * kColumnsOfBlock;
    for (Eigen::Index j = first; j < std::min(first + kColumnsOfBlock, n); ++j) {
      const auto column = hessian.col(j);  // and row
      errors(j) = column.dot(probe) - product(j);
      norms(j) = detail::norm(column);
    }
  });
  return detail::norm(errors) <= tolerance * detail::norm(norms);
}

}  // namespace hesscope
