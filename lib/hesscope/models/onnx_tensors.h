// SPDX-License-Identifier: BSD-3-Clause
//
// The tensors of an ONNX graph, and which of them are parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/import/importer.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope {

/// The role of a tensor of an ONNX graph.
struct OnnxTensorRole {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_parameter = false;
  bool is_missing = false;        ///< constant only because the checkpoint lacks it
  bool is_single_number = false;  ///< or because it is one, and `parameters` is empty
  bool is_not_chosen = false;     ///< or because `parameters` lists others
  bool is_frozen = false;         ///< or because `frozen` names it
  std::string tied_to = {};       ///< the tensor that it stands for, if it is not independent
  std::string reason = {};        ///< "in the checkpoint, and a derivative reaches it"
  /// Names that are treated as this tensor, although its entries are all equal and it is also used
  /// under its own name: they may have been separate tensors with equal values at export.
  std::vector<std::string> merged = {};
  bool is_unused = false;    ///< by all nodes: a parameter without effect
  std::string copy_of = {};  ///< for the result of an Identity node: its tensor
};

/// The tensors that an output of the graph depends on, parameters first, each with the reason for
/// its role.
///
/// Parameters are the tensors of real numbers that the checkpoint holds under their names and that
/// a derivative reaches. Not parameters are: tensors used only by comparisons, conditions and
/// statistics of batch normalisation; tensors that are frozen or tied to another; tensors with
/// infinities both in the graph and in the checkpoint, such as masks; and, unless `parameters`
/// names them, masks and vectors that PyTorch's pruning and spectral normalisation keep next to a
/// parameter. An .onnx checkpoint holds everything; its single numbers are parameters only if
/// `parameters` names them. A tensor that nothing in the graph uses is a parameter, too, without
/// effect.
///
/// An exporter that merges tensors by value leaves an Identity node whose result carries the name
/// of the merged tensor. This result is a tensor of its own in the following cases; otherwise it is
/// another name of its tensor, which `frozen` and `parameters` may use.
///  - `separate` names the result, or `tied`, or a checkpoint that holds both names as one tensor,
///    mentions it (one of the two tensors is then tied to the other).
///  - The checkpoint has a tensor of that name. An .onnx checkpoint has all names; there, something
///    else must also use the tensor.
///  - The checkpoint has no such tensor, something else also uses the tensor, and either a
///    derivative reaches the tensor but not the result (statistics that were equal to weights), or
///    `frozen` or `parameters` apply to only one of the two.
/// @param needs     dependencies_of() the output.
/// @param settings  of a model of kind "onnx", or empty.
std::vector<OnnxTensorRole> onnx_tensor_roles(const onnx::OnnxFile& file,
                                              const onnx::Dependencies& needs,
                                              const Settings& settings,
                                              const TensorShapes& checkpoint);

namespace detail {

/// A potential parameter: an initializer, or the name that an Identity node gives to one, which is
/// how exporters write two parameters with equal values.
struct OnnxCandidate {
  std::string name;
  const onnx::Tensor* tensor;  ///< in the file
  std::string source = {};     ///< the Identity node's source candidate; empty for initializers
};

/// Those that the output depends on, and those that nothing in the graph uses.
std::vector<OnnxCandidate> onnx_candidates(const onnx::OnnxFile& file,
                                           const onnx::Dependencies& needs);

/// The candidates as a checkpoint with the graph's own names and values.
TensorShapes as_checkpoint(const onnx::OnnxFile& file,
                           const std::vector<OnnxCandidate>& candidates);

/// An initializer's elements, whatever their type.
std::vector<double> values_of(const onnx::Tensor& tensor);

/// Whether doubles can represent an initializer's elements; false for the end of an open-ended
/// slice.
bool are_doubles(const onnx::Tensor& tensor);

/// @throws ConfigError for a pattern in `frozen`, `parameters` or `separate` that no tensor
///         matches, and for a name in `tied` that the graph lacks; InputError for a tensor of the
///         checkpoint that the graph does not know: ignoring it would give the Hessian of another
///         model.
void require_onnx_names(const onnx::OnnxFile& file,
                        const Settings& settings,
                        const std::vector<OnnxTensorRole>& roles,
                        const TensorShapes& checkpoint);

/// How to export so that tensors keep their names, for messages: a sentence without the full stop.
extern const std::string_view kOnnxRecipe;

}  // namespace detail
}  // namespace hesscope
