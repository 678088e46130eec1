// SPDX-License-Identifier: BSD-3-Clause
//
// A perceptron whose minima are not isolated points.
#pragma once

#include <Eigen/Core>

#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"

namespace hesscope::test {

/// Six samples on three inputs determine three combinations of 13 parameters: the minima are a
/// manifold, on which ten eigenvalues are zero.
struct ManifoldOfMinima {
  /// Gradient descent until |g| < `size`.
  void descend(double size) {
    for (int i = 0; i < 200000; ++i) {
      const Eigen::VectorXd gradient = objective.gradient(theta);
      if (gradient.norm() < size) break;
      theta -= 0.1 * gradient;
    }
  }

  static SampleTable samples(Numbers& numbers) {
    SampleTable table = numbers.table(6, 2);
    table.col(0) << -1, 0.2, 1.1, -1, 0.2, 1.1;
    return table;
  }

  Numbers numbers{2};
  GraphObjective objective{mlp({.widths = {1, 4, 1},
                                .activation = Activation::kTanh,
                                .loss = MlpLoss::kMeanSquaredError}),
                           samples(numbers)};
  Eigen::VectorXd theta = numbers.vector(13);
};

}  // namespace hesscope::test
