// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the nodes of an ONNX file, in its graph and its functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hesscope_onnx/onnx.pb.h>

#include <hesscope/onnx/internal/tensor_reader.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

/// A node as stored in the file, which may be a call of a function or be part of one.
struct FileNode {
  /// Within a function: an attribute of the node takes the function's attribute of this name.
  struct Reference {
    std::string attribute;
    std::string of_function;
  };

  Node node;
  std::vector<Reference> references;
  std::string overload;  ///< of the function that it calls, if any
};

/// @param where  "model.onnx", for messages.
/// @throws InputError "<where>: node 'X' (Op): ...": names that are not text, an attribute that
///         occurs twice or has no type, and what TensorReader refuses.
FileNode read_node(const std::string& where,
                   const hesscope_onnx::NodeProto& stored,
                   TensorReader& tensors);

/// @param where  "model.onnx: node 'X' (Op)".
Attribute read_attribute(const std::string& where,
                         const hesscope_onnx::AttributeProto& stored,
                         TensorReader& tensors);

/// "model.onnx: node 'X' (Op)"
std::string node_text(const std::string& where, const Node& node);

/// The name, after checking that it is text. @param what  "the name of an input"; @throws
/// InputError
const std::string& checked_name(const std::string& where,
                                std::string_view what,
                                const std::string& name);

/// Empty for ONNX's own domain, which may be written in two ways.
std::string domain_of(const std::string& stored);

}  // namespace hesscope::onnx
