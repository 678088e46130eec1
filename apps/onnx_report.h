// SPDX-License-Identifier: BSD-3-Clause
//
// A description of an ONNX graph for people: inputs and outputs, operators, which of its tensors
// are parameters, and whether its samples are known to be independent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/models/onnx_tensors.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/problem/checkpoint_fit.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "json_document.h"

namespace hesscope::cli {

/// The part of a graph that one of its outputs needs.
struct OnnxInspection {
  onnx::OnnxFile file;
  std::string output;                        ///< empty if a problem must choose and does not
  std::vector<OnnxTensorRole> tensors = {};  ///< of the output; empty with an obstacle
  std::size_t num_operators = 0;             ///< nodes that the output needs
  bool is_built = false;                     ///< all of them keep samples apart
  std::string obstacle = {};                 ///< why nothing can be said about the output
};

/// For a file without a problem: its first output, with the file as its own checkpoint.
/// @throws InputError for a file that cannot be read.
OnnxInspection inspect_graph(const io::TensorFile& file);

/// The graph of a problem of kind "onnx", with a checkpoint that fits it or not. Nothing if the
/// graph cannot be read, which is then the obstacle of `fit`.
std::optional<OnnxInspection> inspect_graph(const ProblemFile& problem,
                                            const io::TensorFile& checkpoint,
                                            const CheckpointFit& fit);

std::string graph_text(const OnnxInspection& graph);

Json graph_json(const OnnxInspection& graph);

/// The operators that can be imported.
std::string operators_text();

Json operators_json();

}  // namespace hesscope::cli
