// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors that an ONNX graph or its checkpoint contains under two names.
//
// Exporters that fold constants store a transposed copy of a weight next to the weight itself, for
// instance if an embedding is also the last layer. Treating them as two parameters would give the
// Hessian of a model whose layers are not tied.
#pragma once

#include <string>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_copies.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope {

/// The ties stated in the problem file. @throws ConfigError for a malformed entry.
std::vector<ModelTie> onnx_ties_in(const Settings& settings);

/// The initializers of a graph that a derivative reaches, and statistics.
struct OnnxWeights {
  std::vector<const onnx::Tensor*> parameters;
  std::vector<const onnx::Tensor*> constants;       ///< that the checkpoint lacks
  std::vector<const onnx::Tensor*> single_numbers;  ///< constant because `parameters` is empty
  std::vector<std::string> integers;    ///< in the checkpoint, and a derivative reaches them
  std::vector<std::string> statistics;  ///< of BatchNormalization, not in the checkpoint
  /// OnnxTensorRole::merged of all parameters.
  std::vector<ModelTie> merged = {};
  std::vector<std::string> unused = {};        ///< parameters that no node uses
  std::vector<ModelTie> constant_copies = {};  ///< of parameters, not named by `parameters`
  bool are_named_by_model = true;  ///< if false, two parameter names may denote one tensor
};

/// @throws InputError if a tensor holds the same numbers as a parameter, and the problem file
///         states neither that they are tied nor that they are separate.
void require_no_copies(const onnx::OnnxFile& file,
                       const OnnxWeights& weights,
                       const Settings& settings);

/// Determines whether, in a tie, the tensor `copy` of the graph is the transpose of `original`:
/// from the checkpoint's numbers if it holds both, else from the graph's, else from the shapes.
/// Returns a remark on a square matrix if nothing decides it, because all available numbers are
/// symmetric or of other weights; otherwise returns nothing.
/// @throws InputError naming both if they cannot be one tensor, or if graph and checkpoint
///         disagree.
std::string settle_tie(const onnx::OnnxFile& file,
                       const onnx::Tensor& copy,
                       const onnx::Tensor& original,
                       const TensorShapes& checkpoint,
                       ModelTie& tie);

}  // namespace hesscope
