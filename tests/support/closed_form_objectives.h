// SPDX-License-Identifier: BSD-3-Clause
//
// Objectives whose Hessians have closed forms.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/model.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>

#include "support/quadratic_objective.h"

namespace hesscope::test {

/// (1 - x)^2 + 100 (y - x^2)^2, with one sample. Its gradient is
///   (2 (x - 1) - 400 x (y - x^2), 200 (y - x^2)),
/// its Hessian [1200 x^2 - 400 y + 2, -400 x; -400 x, 200].
struct Rosenbrock {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    const T slope = 1.0 - x(0);
    const T valley = x(1) - x(0) * x(0);
    return slope * slope + 100.0 * valley * valley;
  }
};

/// `x` and `y` are tensors of one parameter each.
inline FunctorObjective<Rosenbrock> rosenbrock() {
  return make_objective(
      Rosenbrock(), 2, 1, {.parameter_blocks = {{"x", {1}, 0, 1}, {"y", {1}, 1, 1}}});
}

/// The mean over samples y_i of (a b - y_i)^2 / 2, with the prediction z = a b. With r = a b - mean
/// y,
///   gradient  r (b, a)
///   H = G + R,  G = [b^2, a b; a b, a^2],  R = [0, r; r, 0].
/// G has the eigenvalues 0 and a^2 + b^2, R has r and -r. The loss is constant along (c a, b / c),
/// with the generator (a, -b), which is a null vector of H if r = 0.
inline GraphObjective product_of_two(const std::vector<double>& targets) {
  ModelBuilder builder("product");
  const Var a = builder.parameter("a", {1});
  const Var b = builder.parameter("b", {1});
  const Var y = builder.array("target", {});
  const Var z = matmul(a, b);
  builder.set_prediction(z);
  Model model = builder.finish(0.5 * square(z - y));
  model.invariances.push_back(
      {.name = "rescaling", .num_generators = 1, .generator = [](Eigen::Index /*k*/) {
         return AffineGenerator{.linear = {{0, 0, 1.0}, {1, 1, -1.0}}, .constant = {}};
       }});
  SampleTable samples(static_cast<Eigen::Index>(targets.size()), 1);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    samples(static_cast<Eigen::Index>(i), 0) = targets[i];
  }
  return {model, samples};
}

}  // namespace hesscope::test
