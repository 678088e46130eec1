// SPDX-License-Identifier: BSD-3-Clause
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

}  // namespace hesscope
