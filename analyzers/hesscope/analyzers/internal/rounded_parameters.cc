// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/analyzers/internal/rounded_parameters.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/sampling/random_stream.h>

namespace hesscope::detail {

Eigen::VectorXd estimated_by_rounded_parameters(const Objective& objective,
                                                const Eigen::VectorXd& theta) {
  // Over standard normal vectors z, the mean square of an entry of H D z is the squared norm of
  // that row. Random signs would not do: the two terms of a row of (a b - 1)^2 are equal where
  // a b = 1, and signs would often cancel them.
  constexpr Eigen::Index kProbes = 4;
  RandomStream random(0, Stream::kTask, 0);
  Eigen::MatrixXd probes(theta.size(), kProbes);
  for (double& entry : probes.reshaped()) entry = random.normal();
  const Eigen::MatrixXd products = objective.hessian_times(theta, theta.asDiagonal() * probes);
  Eigen::VectorXd rows(theta.size());
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    rows[i] = kGradientRounding * norm(products.row(i)) / std::sqrt(static_cast<double>(kProbes));
  }
  return rows;
}

}  // namespace hesscope::detail
