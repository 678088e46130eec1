// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/models/linear_attention.h>

#include "support/numbers.h"

namespace hesscope::test {

/// Prompts as the tasks make them: a 0 in the query's label place.
inline SampleTable prompts(const LinearAttentionOptions& options,
                           Eigen::Index count,
                           std::uint64_t seed) {
  const Eigen::Index e = options.dimension + 1;
  const Eigen::Index width = options.context + 1;
  SampleTable table = Numbers(seed).table(count, e * width + 1);
  table.col(e * width - 1).setZero();
  return table;
}

}  // namespace hesscope::test
