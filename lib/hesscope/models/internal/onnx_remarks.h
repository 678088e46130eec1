// SPDX-License-Identifier: BSD-3-Clause
//
// What is said about an ONNX graph's tensors if the problem file does not state what they are and
// the graph, the checkpoint or their names suggest that they may be something else than is assumed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/onnx_tensors.h>
#include <hesscope/models/onnx_ties.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// A graph, a checkpoint, and what their tensors are taken for.
struct OnnxReading {
  const onnx::OnnxFile& file;
  const std::set<std::string>& names;  ///< of the graph's tensors
  const std::vector<OnnxTensorRole>& roles;
  const OnnxWeights& weights;
  const Settings& settings;
  const TensorShapes& checkpoint;
};

/// One text for each kind of doubt, naming at most three tensors, what was assumed of them, and
/// what to do if that is wrong.
std::vector<std::string> remarks_on_weights(const OnnxReading& reading);

}  // namespace hesscope::detail
