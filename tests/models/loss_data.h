// SPDX-License-Identifier: BSD-3-Clause
//
// A model of no more than outputs, for what losses make of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/losses.h>
#include <hesscope/objective/sample_table.h>

#include "support/numbers.h"

namespace hesscope::test {

/// Outputs of a sample are 6 parameters times its 6 inputs, in some shape.
inline constexpr Eigen::Index kLossOutputs = 6;
inline constexpr Eigen::Index kLossSamples = 5;

/// Five samples and the parameters, for any target.
struct LossData {
  SampleTable inputs = Numbers(3).table(kLossSamples, kLossOutputs);
  Eigen::VectorXd theta = Numbers(4).vector(kLossOutputs);
  std::vector<double> target;
  std::vector<std::int64_t> target_shape;  ///< samples first
  bool is_integer = false;

  double z(Eigen::Index sample, Eigen::Index entry) const {
    return inputs(sample, entry) * theta(entry);
  }
};

/// What a reader of the file would say; `data` must outlive it.
inline TensorShapes shapes_of(const LossData& data) {
  TensorShapes shapes;
  shapes.source = "data.npz";
  shapes.shapes["inputs"] = {kLossSamples, kLossOutputs};
  shapes.shapes["target"] = data.target_shape;
  if (data.is_integer) shapes.types["target"] = io::ElementType::kInt64;
  shapes.read = [&data](const std::string& name) {
    if (name == "target") return data.target;
    return std::vector<double>(data.inputs.data(), data.inputs.data() + data.inputs.size());
  };
  return shapes;
}

}  // namespace hesscope::test
