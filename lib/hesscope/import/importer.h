// SPDX-License-Identifier: BSD-3-Clause
//
// Converts an ONNX graph to the forward pass of one sample on a Graph.
//
// Constants are folded, shapes are tracked with the number of samples as a symbol, and each
// operator is checked to keep samples apart. By induction, every value of sample i is then a
// function of the inputs of sample i, on which sums over samples, batches and per-sample gradients
// rely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/import/dependencies.h>
#include <hesscope/import/value.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

/// A constant with an initializer's value: known integers, or numbers on the graph.
/// @throws InputError for text and other types that are not read.
Value constant_value(const OnnxFile& file, const Tensor& tensor, Graph& graph);

/// Limits that are checked before anything beyond them is allocated; those on the whole graph are
/// checked after each node of the file. A typical graph takes a few million multiplications per
/// sample. A graph beyond these limits is not a small model, but a file of a few bytes can describe
/// one.
struct ImportLimits {
  std::size_t max_nodes = 200'000;               ///< of the recorded graph
  std::int64_t max_entries = 10'000'000;         ///< of all its nodes, for one sample
  std::int64_t max_tensor_entries = 10'000'000;  ///< of one tensor, for one sample
  int max_rank = 64;                             ///< of one tensor
  std::int64_t max_moves = 1'000'000'000;        ///< entries moved from place to place
  std::int64_t max_products = 200'000'000;       ///< multiplications of constant matrices
  std::int64_t max_integers = 1'000'000;         ///< of one tensor of known integers
  std::int64_t max_all_integers = 100'000'000;   ///< of all of them
  std::size_t max_in_sequences = 10'000'000;     ///< tensors in all sequences made
  std::size_t max_steps = 200'000;  ///< executed nodes of the file, and rounds of loops
};

/// Records what an output needs and returns its value.
/// @param needs  dependencies_of() the output.
/// @param given  inputs, parameters and constants by name, which replace what the file has under
///               that name (an initializer, an input, or a node's result).
/// @throws InputError naming the node and the reason: shapes that do not fit, attributes out of
///         range, samples that would interact, something that cannot be imported or exceeds a
///         limit.
Value import_output(const OnnxFile& file,
                    const Dependencies& needs,
                    Graph& graph,
                    const std::map<std::string, Value>& given,
                    const ImportLimits& limits = {});

/// The operators that can be imported, by name.
std::vector<std::string> known_operators();

/// The opset from which on an operator of ONNX's own domain is supported; none if it cannot be
/// imported.
std::optional<std::int64_t> first_opset_of(const std::string& op);

}  // namespace hesscope::onnx
