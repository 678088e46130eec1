// SPDX-License-Identifier: BSD-3-Clause
//
// Inlines local functions, branches and loops of an ONNX file: each call is replaced by the nodes
// of the function, the nodes in the branches of an If become nodes of the graph, guarded by its
// condition, and the body of a loop is attached to its node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <hesscope_onnx/onnx.pb.h>

#include <hesscope/onnx/internal/node_reader.h>

namespace hesscope::onnx {

class FunctionInliner {
 public:
  /// @param where   "model.onnx", for messages.
  /// @param model   must outlive this.
  /// @param opset   of the model, for ONNX's own domain.
  /// @param tensors must outlive this.
  /// @throws InputError for two functions of one name.
  FunctionInliner(std::string where,
                  const hesscope_onnx::ModelProto& model,
                  std::int64_t opset,
                  TensorReader& tensors,
                  const OnnxLimits& limits);

  /// The nodes of the graph, with calls replaced by the functions' nodes, and branches by guarded
  /// nodes. Values inside a function, a branch or a body get names that no other value has. An If
  /// or a loop in a function is kept.
  /// @throws InputError for a function that calls itself, calls, branches or loops nested too deep,
  ///         more nodes than the limits allow, a call with more inputs or outputs than its function
  ///         has, a branch whose number of outputs differs from that of its If, a body whose number
  ///         of inputs differs from that of its loop.
  std::vector<Node> inlined_graph();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

  struct Function {
    const hesscope_onnx::FunctionProto* stored = nullptr;
    bool is_read = false;
    bool is_open = false;  // one of its calls is being replaced
    std::vector<FileNode> nodes;
    std::vector<Attribute> defaults;
  };
  struct Call;  // maps a function's formal names to a caller's

  // Maps the names in a branch or a body, and those around it, to the graph's.
  struct Scope {
    const Scope* around = nullptr;
    std::string label;
    std::vector<Guard> guards;
    std::unordered_map<std::string, std::string> names;

    const std::string& find(const std::string& name) const;
  };

  void add_names(const hesscope_onnx::GraphProto& graph);
  void emit(const hesscope_onnx::NodeProto& stored, Scope& scope);
  void add_branches(Node& node, const hesscope_onnx::NodeProto& stored, const Scope& scope);
  void add_branch(Node& node, const hesscope_onnx::GraphProto& branch, Scope scope);
  void add_body(Node& node, const hesscope_onnx::NodeProto& stored, const Scope& scope);
  const hesscope_onnx::GraphProto& subgraph_of(const Node& node,
                                               const hesscope_onnx::NodeProto& stored,
                                               std::string_view attribute) const;
  void go_deeper(const Node& node);
  void emit(const hesscope_onnx::GraphProto& graph, Scope& scope);
  std::string define(const std::string& name, Scope& scope);
  void emit(Node node, const std::string& overload);
  void replace(const Node& call, Function& function);
  Node in_call(const FileNode& inner, Call& call);
  void read(Function& function, const std::string& where);
  void count(std::size_t num_bytes);
  std::string fresh_name(const std::string& wanted);

  std::string where_;
  const hesscope_onnx::ModelProto& model_;
  std::int64_t opset_;
  TensorReader& tensors_;
  OnnxLimits limits_;
  std::map<Key, Function> functions_;
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;
  std::size_t num_steps_ = 0;                            // nodes and calls
  std::uint64_t num_bytes_ = 0;                          // copied by inlining
  std::unordered_set<std::string> names_;                // of values
  std::unordered_map<std::string, std::size_t> copies_;  // the last number appended to a name
};

}  // namespace hesscope::onnx
