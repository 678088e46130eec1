// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "works.h"

namespace hesscope::bench {

/// An array of random data: N(0, 1), or whole numbers 0 ... count - 1.
struct RandomArray {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample
  std::uint64_t count = 0;          ///< 0 = real numbers
};

/// The cross-entropy of a model in models/NAME.onnx, at the weights in that file.
/// @param arrays  the input of the graph, and the classes, `target`.
Problem exported_problem(const std::string& name,
                         const std::vector<RandomArray>& arrays,
                         Eigen::Index num_samples);

}  // namespace hesscope::bench
