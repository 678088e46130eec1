// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/linear_step.h>

namespace hesscope {

LinearStep gradient_descent_step() { return {}; }

LinearStep heavy_ball_step(double momentum, double dampening) {
  return {
      .momentum = momentum, .intake = 1 - dampening, .gradient_weight = 0, .momentum_weight = 1};
}

LinearStep nesterov_step(double momentum) {
  return {.momentum = momentum, .intake = 1, .gradient_weight = 1, .momentum_weight = momentum};
}

LinearStep averaged_step(double momentum) {
  return {.momentum = momentum, .intake = 1 - momentum, .gradient_weight = 0, .momentum_weight = 1};
}

double stable_limit(const LinearStep& step) {
  return (2 + 2 * step.momentum) /
         (step.gradient_weight * (1 + step.momentum) + step.momentum_weight * step.intake);
}

}  // namespace hesscope
