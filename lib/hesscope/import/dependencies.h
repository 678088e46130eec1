// SPDX-License-Identifier: BSD-3-Clause
//
// Which parts of an ONNX graph an output needs.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

/// What an output of the graph needs.
struct Dependencies {
  std::string output;
  std::vector<std::size_t> nodes;                             ///< in the file's order
  std::map<const Body*, std::vector<std::size_t>> in_bodies;  ///< the same for nodes in bodies
  std::set<std::string> values;       ///< names of initializers, inputs, and results of nodes
  std::set<std::string> with_slopes;  ///< those of `values` that a derivative reaches

  std::size_t num_nodes() const;  ///< including those in bodies
};

/// @throws InputError naming an output that the graph does not have, and those that it has; a node
///         with an input that no earlier node makes; all operators on the way that cannot be
///         imported.
Dependencies dependencies_of(const OnnxFile& file, const std::string& output);

/// The names of the outputs, for messages and for graphs with a single output.
std::vector<std::string> output_names(const OnnxFile& file);

}  // namespace hesscope::onnx
