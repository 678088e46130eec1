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

/// What becomes of a tensor of an ONNX graph.
struct OnnxTensorRole {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_parameter = false;
  bool is_missing = false;        ///< a constant only because the checkpoint has no such tensor
  bool is_single_number = false;  ///< or because it is one, and `parameters` names none
  bool is_not_chosen = false;     ///< or because `parameters` names others
  std::string tied_to = {};       ///< the tensor that it stands for, where it is none of its own
  std::string reason = {};        ///< "in the checkpoint, and a derivative reaches it"
  /// Names that are taken for it, though it is one number many times, and computed with beside
  /// them: they may have been tensors that were equal when the model was exported.
  std::vector<std::string> merged = {};
  bool is_unused = false;    ///< by any node: a parameter without effect
  std::string copy_of = {};  ///< of an Identity node's result: its tensor
};

/// The tensors that an output of the graph depends on, parameters first, each with why it is one.
///
/// Parameters are the tensors of real numbers that the checkpoint holds under their names and that
/// a derivative reaches: not what only comparisons, conditions and statistics of batch
/// normalisation use, not what is frozen or tied to another, not what holds infinities in the graph
/// and in the checkpoint, as masks do, and of an .onnx checkpoint, which holds everything, single
/// numbers only where `parameters` names them. What nothing in the graph uses is a parameter, too,
/// without effect.
///
/// The result of an Identity node of a tensor is a tensor of its own where merging by value has
/// left it there: where the checkpoint has one of that name, unless `tied`, or a checkpoint that
/// holds both names as one tensor, says that they are one. Of an .onnx checkpoint, which has all
/// names, that is where something else uses the tensor, too, or `separate` names the result. Where
/// the checkpoint has none, it is one where no derivative reaches it, as statistics that were equal
/// to weights, and where something else uses the tensor and `frozen` or `parameters` say of one
/// what they do not say of the other. Else it is another name of the tensor, which `frozen` and
/// `parameters` may use.
/// @param needs     dependencies_of() the output.
/// @param settings  of a model of kind "onnx", or none at all.
std::vector<OnnxTensorRole> onnx_tensor_roles(const onnx::OnnxFile& file,
                                              const onnx::Dependencies& needs,
                                              const Settings& settings,
                                              const TensorShapes& checkpoint);

namespace detail {

/// A tensor that may be a parameter: an initializer, or the name that an Identity node gives one,
/// which is how exporters write two parameters that were of equal value.
struct OnnxCandidate {
  std::string name;
  const onnx::Tensor* tensor;  ///< in the file
  std::string source = {};  ///< the candidate that the Identity node is of; none for initializers
};

/// Those that the output depends on, and those that nothing in the graph uses.
std::vector<OnnxCandidate> onnx_candidates(const onnx::OnnxFile& file,
                                           const onnx::Dependencies& needs);

/// The candidates as a checkpoint, whose names and values are the graph's own.
TensorShapes as_checkpoint(const onnx::OnnxFile& file,
                           const std::vector<OnnxCandidate>& candidates);

/// An initializer's elements, whatever their type.
std::vector<double> values_of(const onnx::Tensor& tensor);

/// Whether doubles hold an initializer's elements: not the end of a slice that has none.
bool are_doubles(const onnx::Tensor& tensor);

/// @throws ConfigError for a pattern in `frozen`, `parameters` or `separate` that no tensor
///         matches, and for what `tied` names that the graph has not; InputError for a tensor of
///         the checkpoint that the graph does not know: were it left out, this would be the Hessian
///         of another model.
void require_onnx_names(const onnx::OnnxFile& file,
                        const Settings& settings,
                        const std::vector<OnnxTensorRole>& roles,
                        const TensorShapes& checkpoint);

/// How to export so that tensors keep their names, for messages: a sentence without its full stop.
extern const std::string_view kOnnxRecipe;

}  // namespace detail
}  // namespace hesscope
