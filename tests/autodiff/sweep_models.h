// SPDX-License-Identifier: BSD-3-Clause
//
// The models that sweeps are compared on.
#pragma once

#include <vector>

#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/signal_noise.h>

namespace hesscope::test {

inline std::vector<Model> sweep_models() {
  return {linear_attention({.layers = 2, .dimension = 2, .context = 3}),
          attention({.heads = 2, .embedding = 3, .head_dimension = 2, .sequence = 3}),
          attention({.heads = 1,
                     .embedding = 2,
                     .head_dimension = 2,
                     .sequence = 3,
                     .kernel = AttentionKernel::kGaussian}),
          mlp({.widths = {3, 4, 2},
               .activation = Activation::kGelu,
               .loss = MlpLoss::kMeanSquaredError}),
          signal_noise({.dimension = 3, .key_neurons = 2, .value_neurons = 2})};
}

}  // namespace hesscope::test
