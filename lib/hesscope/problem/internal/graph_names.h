// SPDX-License-Identifier: BSD-3-Clause
//
// Finds tensors of a checkpoint that an exporter has stored under other names. PyTorch's exporter
// folds the transposition of a linear layer's weights into the graph and calls them
// onnx::MatMul_175.
#pragma once

#include <string>
#include <vector>

#include <hesscope/onnx/onnx_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

/// Rules for the initializers of a graph whose names the checkpoint lacks: each is the only tensor
/// unknown to the graph that has exactly its values, possibly transposed. If there are several,
/// there is no rule. The checkpoint must therefore be the one with which the graph was exported;
/// other checkpoints of the same run have the same names.
/// @param doubt  set (and there are no rules) if a square tensor is symmetric, so that the graph
///               may have it either way round: for a later checkpoint, one of them would be wrong.
/// @throws InputError for tensors that cannot be read.
/// @cost   reads the tensors that are unknown to the graph.
std::vector<io::TensorRule> rules_by_value(const onnx::OnnxFile& graph,
                                           const io::TensorFile& checkpoint,
                                           std::string& doubt);

}  // namespace hesscope::detail
