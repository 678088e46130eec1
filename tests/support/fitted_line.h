// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"

namespace hesscope::test {

/// Least squares of w . x + b, theta = (w, b), on samples that this theta fits: residuals and
/// gradients are only rounding.
inline GraphObjective fitted_line(const Eigen::VectorXd& theta, Eigen::Index num_samples) {
  const Eigen::Index d = theta.size() - 1;
  const Model model = mlp(
      {.widths = {d, 1}, .activation = Activation::kIdentity, .loss = MlpLoss::kMeanSquaredError});
  SampleTable samples = Numbers(11).table(num_samples, model.record_size());
  for (Eigen::Index i = 0; i < num_samples; ++i) {
    samples(i, d) = theta[d] + samples.row(i).head(d).dot(theta.head(d));
  }
  return {model, samples};
}

}  // namespace hesscope::test
