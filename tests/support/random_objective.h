// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"

namespace hesscope::test {

/// A model on random samples; classes alternate.
inline GraphObjective random_objective(Model model, Eigen::Index num_samples = 40) {
  Numbers numbers(11);
  SampleTable samples = numbers.table(num_samples, model.record_size());
  for (const DataArray& array : model.arrays) {
    if (array.content != DataArray::Content::kClass) continue;
    for (Eigen::Index i = 0; i < num_samples; ++i) {
      samples.row(i).segment(array.offset, array.width).setZero();
      samples(i, array.offset + i % array.width) = 1;
    }
  }
  return {std::move(model), std::move(samples)};
}

}  // namespace hesscope::test
