// SPDX-License-Identifier: BSD-3-Clause
//
// One tensor of a model that an ONNX graph, or its checkpoint, has under two names.
//
// Exporters that fold constants store a transposed copy of a weight beside the weight itself, as of
// an embedding that is the last layer, too. Taken for two parameters they would give the Hessian of
// a model whose layers are not tied.
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

/// Those that the problem file says. @throws ConfigError for an entry of another form.
std::vector<ModelTie> onnx_ties_in(const Settings& settings);

/// Initializers of a graph that a derivative reaches, and statistics.
struct OnnxWeights {
  std::vector<const onnx::Tensor*> parameters;
  std::vector<const onnx::Tensor*> constants;       ///< that the checkpoint has not
  std::vector<const onnx::Tensor*> single_numbers;  ///< constants because `parameters` names none
  std::vector<std::string> statistics;  ///< of BatchNormalization, not in the checkpoint
  /// OnnxTensorRole::merged of all parameters.
  std::vector<ModelTie> merged = {};
  std::vector<std::string> unused = {};        ///< parameters that no node uses
  std::vector<ModelTie> constant_copies = {};  ///< of parameters, not named by `parameters`
  bool are_named_by_model = true;              ///< else two names of parameters may be one tensor's
};

/// @throws InputError where a tensor holds the same numbers as a parameter, and the problem file
///         says neither that they are tied nor that they are separate.
void require_no_copies(const onnx::OnnxFile& file,
                       const OnnxWeights& weights,
                       const Settings& settings);

/// That the graph computes with constants that the checkpoint has not and the problem file does not
/// name: they may have been folded from parameters. Empty if there are none.
std::string remark_on_constants(const onnx::OnnxFile& file,
                                const OnnxWeights& weights,
                                const Settings& settings);

/// That single numbers with names of a program's own ("logit_scale", not "onnx::Mul_7") are
/// constants: they may have been learned. Empty if there are none.
std::string remark_on_single_numbers(const onnx::OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings);

/// That the graph computes with single numbers that the exporter has named ("onnx::Exp_28"), which
/// it does of what it has folded: they may come of parameters. Empty if there are none.
std::string remark_on_folded_numbers(const onnx::OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings);

/// That statistics of batch normalisation are those of the file for all checkpoints. Empty if there
/// are none.
std::string remark_on_statistics(const onnx::OnnxFile& file,
                                 const OnnxWeights& weights,
                                 const Settings& settings);

/// That tensors are taken for parameters that they may only have been equal to. Empty if there are
/// none.
std::string remark_on_merged_constants(const onnx::OnnxFile& file,
                                       const OnnxWeights& weights,
                                       const Settings& settings);

/// What to know where `tied` says of a name that no tensor has, but another nearly has, that it
/// stands for another.
/// @param names  of the graph's tensors.
std::string remark_on_lost_ties(const onnx::OnnxFile& file,
                                const std::set<std::string>& names,
                                const Settings& settings,
                                const TensorShapes& checkpoint);

/// That what an Identity node makes of a parameter of an .onnx is a constant, since `parameters`
/// does not name it. Empty if there are none.
std::string remark_on_constant_copies(const onnx::OnnxFile& file, const OnnxWeights& weights);

/// That no node uses some of the parameters. Empty if there are none.
std::string remark_on_unused_parameters(const onnx::OnnxFile& file,
                                        const OnnxWeights& weights,
                                        const Settings& settings);

/// That the exporter computed parameters from others, as their numbers tell, where one tensor is
/// used twice and sliced or scaled once. Empty if there are none.
std::string remark_on_related_weights(const onnx::OnnxFile& file,
                                      const OnnxWeights& weights,
                                      const Settings& settings);

/// That parameters are what the exporter computed of the model's, as its names for them tell: that
/// of batch normalisation and the weights of a convolution, that of weights that are normalised,
/// masked or scaled. Empty if there are none.
std::string remark_on_folded_weights(const onnx::OnnxFile& file,
                                     const OnnxWeights& weights,
                                     const Settings& settings);

/// Says of a tie whether the tensor `copy` of the graph stands for the transpose of `original`: as
/// the checkpoint's numbers say, where it holds both, else as the graph's do, else as the shapes
/// do. Returns a remark on a square matrix of which nothing says it: all numbers there are, are
/// symmetric or of other weights; else nothing.
/// @throws InputError naming both where they cannot be one tensor, or where graph and checkpoint
///         say otherwise.
std::string settle_tie(const onnx::OnnxFile& file,
                       const onnx::Tensor& copy,
                       const onnx::Tensor& original,
                       const TensorShapes& checkpoint,
                       ModelTie& tie);

}  // namespace hesscope
