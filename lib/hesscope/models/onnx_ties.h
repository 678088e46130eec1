// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors that an ONNX graph or its checkpoint contains under two names.
//
// Exporters that fold constants store a transposed copy of a weight next to the weight itself, for
// instance if an embedding is also the last layer. Treating them as two parameters would give the
// Hessian of a model whose layers are not tied.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_copies.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope {

struct OnnxTensorRole;

/// The ties stated in the problem file. @throws ConfigError for a malformed entry.
std::vector<ModelTie> onnx_ties_in(const Settings& settings);

/// The initializers of a graph that a derivative reaches, and statistics.
struct OnnxWeights {
  std::vector<const onnx::Tensor*> parameters;
  std::vector<const onnx::Tensor*> constants;       ///< that the checkpoint lacks
  std::vector<const onnx::Tensor*> single_numbers;  ///< constant because `parameters` is empty
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

/// Remarks that the graph uses constants which the checkpoint lacks and the problem file does not
/// name: they may have been folded from parameters. Empty if there are none.
std::string remark_on_constants(const onnx::OnnxFile& file,
                                const OnnxWeights& weights,
                                const Settings& settings,
                                const TensorShapes& checkpoint);

/// Remarks that the graph uses tensors which the checkpoint has and a map of names ignores, and
/// which the problem file does not name: those of the checkpoint may be others. Empty if there are
/// none.
std::string remark_on_left_out(const onnx::OnnxFile& file,
                               const std::vector<OnnxTensorRole>& roles,
                               const Settings& settings,
                               const TensorShapes& checkpoint);

/// Remarks that single numbers with names given by a program ("logit_scale", not "onnx::Mul_7") are
/// constants: they may have been learned. Empty if there are none.
std::string remark_on_single_numbers(const onnx::OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings);

/// Remarks that the graph uses single numbers named by the exporter ("onnx::Exp_28"), as it names
/// folded values: they may depend on parameters. Empty if there are none.
std::string remark_on_folded_numbers(const onnx::OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings);

/// Remarks that the statistics of batch normalisation are taken from the file for all checkpoints.
/// Empty if there are none.
std::string remark_on_statistics(const onnx::OnnxFile& file,
                                 const OnnxWeights& weights,
                                 const Settings& settings);

/// Remarks that names are treated as parameters to which they may only have been equal. Empty if
/// there are none.
std::string remark_on_merged_constants(const onnx::OnnxFile& file,
                                       const OnnxWeights& weights,
                                       const Settings& settings);

/// A remark on a tie in `tied` whose name is not that of any tensor, but close to one.
/// @param names  of the graph's tensors.
std::string remark_on_lost_ties(const onnx::OnnxFile& file,
                                const std::set<std::string>& names,
                                const Settings& settings,
                                const TensorShapes& checkpoint);

/// Remarks that an Identity node's result for a parameter of an .onnx file is a constant, since
/// `parameters` does not name it. Empty if there are none.
std::string remark_on_constant_copies(const onnx::OnnxFile& file, const OnnxWeights& weights);

/// Remarks that no node uses some of the parameters. Empty if there are none.
std::string remark_on_unused_parameters(const onnx::OnnxFile& file,
                                        const OnnxWeights& weights,
                                        const Settings& settings);

/// Remarks that, judging by their numbers, the exporter computed some parameters from others, as if
/// one tensor had been used twice and sliced or scaled once. Empty if there are none.
std::string remark_on_related_weights(const onnx::OnnxFile& file,
                                      const OnnxWeights& weights,
                                      const Settings& settings);

/// Remarks that, judging by their names, parameters were computed by the exporter from those of the
/// model: batch normalisation folded into the weights of a convolution, or weights that are
/// normalised, masked or scaled. Empty if there are none.
std::string remark_on_folded_weights(const onnx::OnnxFile& file,
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
