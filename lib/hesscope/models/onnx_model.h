// SPDX-License-Identifier: BSD-3-Clause
//
// Any model: a forward pass exported as ONNX, with a loss of its output.
#pragma once

#include <string>
#include <vector>

#include <hesscope/models/model_registry.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope {

/// What becomes of a tensor of an ONNX graph.
struct OnnxTensorRole {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_parameter = false;
  std::string reason;  ///< "in the checkpoint, and a derivative reaches it"
};

/// The tensors that an output of the graph depends on, parameters first, each with why it is one.
///
/// Parameters are the tensors of real numbers that the checkpoint holds under their names and that a
/// derivative reaches: not what only comparisons, conditions and statistics of batch normalisation
/// use, not what is frozen, and of an .onnx checkpoint, which holds everything, no single numbers and
/// nothing infinite. What nothing in the graph uses is a parameter, too, without effect. A name that merging by value has left to an Identity node is a tensor of its
/// own.
std::vector<OnnxTensorRole> onnx_tensor_roles(const onnx::OnnxFile& file,
                                              const std::string& output,
                                              const Settings& settings,
                                              const TensorShapes& checkpoint);

ModelKind onnx_kind();

}  // namespace hesscope
