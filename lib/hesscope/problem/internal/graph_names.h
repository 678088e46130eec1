// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensor of a checkpoint an exporter has stored under another name. PyTorch's folds the
// transposition of a linear layer's weights into the graph and calls them onnx::MatMul_175.
#pragma once

#include <string>
#include <vector>

#include <hesscope/onnx/onnx_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

/// Rules for the initializers of a graph that the checkpoint does not have under their names: each
/// is the one tensor unknown to the graph that has its very values, as it is or transposed. Where
/// several have, there is no rule. So it must be the checkpoint that the graph was exported with;
/// of the same run's others the names are the same.
/// @param doubt  set, and there are no rules, where a square tensor is symmetric, so that the
///               graph may have it either way round: of a later checkpoint one would be wrong.
/// @throws InputError for tensors that cannot be read.
/// @cost   reads the tensors that are unknown to the graph.
std::vector<io::TensorRule> rules_by_value(const onnx::OnnxFile& graph,
                                           const io::TensorFile& checkpoint,
                                           std::string& doubt);

}  // namespace hesscope::detail
