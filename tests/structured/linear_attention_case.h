// SPDX-License-Identifier: BSD-3-Clause
//
// Linear attention of many shapes, at some point on some prompts.
#pragma once

#include <array>

#include <Eigen/Core>

#include <hesscope/models/linear_attention.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/structured/linear_attention_structure.h>

#include "support/numbers.h"

namespace hesscope::test {

struct Shape {
  std::int64_t layers;
  std::int64_t dimension;
  std::int64_t context;
};

// d = 5 is unrolled; the other sizes are odd, one more, and one less than the kernels' tiles.
inline constexpr std::array<Shape, 11> kShapes = {{{1, 1, 1},
                                                   {1, 5, 7},
                                                   {2, 1, 2},
                                                   {2, 5, 6},
                                                   {3, 2, 5},
                                                   {3, 3, 4},
                                                   {3, 5, 20},
                                                   {4, 4, 6},
                                                   {5, 2, 3},
                                                   {3, 6, 9},
                                                   {2, 7, 9}}};

inline LinearAttentionOptions options_of(const Shape& shape,
                                         LinearAttentionParametrization parametrization) {
  return {.layers = shape.layers,
          .dimension = shape.dimension,
          .context = shape.context,
          .parametrization = parametrization};
}

inline LinearAttentionStructure structure_of(const LinearAttentionOptions& options,
                                             const Model& model) {
  using Structure = LinearAttentionStructure::Parametrization;
  using Model = LinearAttentionParametrization;
  return {.layers = options.layers,
          .dimension = options.dimension,
          .context = options.context,
          .parametrization = options.parametrization == Model::kSparse ? Structure::kSparse
                             : options.parametrization == Model::kFull ? Structure::kFull
                                                                       : Structure::kSplitQk,
          .z_offset = model.arrays[0].offset,
          .target_offset = model.arrays[1].offset};
}

struct LinearAttentionCase {
  LinearAttentionCase(const LinearAttentionOptions& options,
                      Eigen::Index num_prompts,
                      double scale = 0.3)
      : model(linear_attention(options)),
        theta(scale * Numbers(1).vector(model.num_parameters())),
        samples(Numbers(2).table(num_prompts, model.record_size())) {}

  SampleRange all() const { return {0, samples.rows()}; }

  Model model;
  Eigen::VectorXd theta;
  SampleTable samples;
};

}  // namespace hesscope::test
