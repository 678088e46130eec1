// SPDX-License-Identifier: BSD-3-Clause
//
// Which names of an ONNX graph and its checkpoint denote the same tensor, and about which of them
// the problem file decides.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_copies.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::detail {

/// The content of `tied`, in names of graph and checkpoint. A name that neither has may be a name
/// in the checkpoint's file that a map has changed.
std::vector<ModelTie> declared_ties(const std::set<std::string>& names_of_graph,
                                    const Settings& settings,
                                    const TensorShapes& checkpoint);

/// The same, plus tensors that are one in the checkpoint's file: the first of them that the graph
/// has, and that is not declared to stand for another, is the one for which all others stand. No
/// tensor stands for one that itself stands for another.
/// @throws ConfigError if `tied` is circular.
std::vector<ModelTie> all_ties(const std::set<std::string>& names_of_graph,
                               const Settings& settings,
                               const TensorShapes& checkpoint);

/// Whether the problem file states what at least one of two tensors is, by `tied`, `separate` or
/// `frozen`.
bool is_settled(const Settings& settings, const std::string& name, const std::string& other);

/// To be compared with those of other tensors.
ShapedNumbers numbers_of(const onnx::Tensor& tensor);

}  // namespace hesscope::detail
