// SPDX-License-Identifier: BSD-3-Clause
//
// Which names of an ONNX graph, and of its checkpoint, are of one tensor.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope::detail {

/// What `tied` says, in names of graph and checkpoint: what neither has may be a name of the
/// checkpoint's file, to which a map has given another.
std::vector<ModelTie> declared_ties(const std::set<std::string>& names_of_graph,
                                    const Settings& settings,
                                    const TensorShapes& checkpoint);

/// The same, and tensors that are one in the checkpoint's file: all but the first of them that the
/// graph has, and that is not said to stand for another, stand for that. None stands for one that
/// stands for another.
/// @throws ConfigError where `tied` goes round in a circle.
std::vector<ModelTie> all_ties(const std::set<std::string>& names_of_graph,
                               const Settings& settings,
                               const TensorShapes& checkpoint);

}  // namespace hesscope::detail
