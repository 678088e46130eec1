// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/onnx/internal/function_inliner.h>

namespace hesscope::onnx {
namespace {

constexpr std::string_view kIf = "If";

bool is_loop(std::string_view op) { return op == "Loop" || op == "Scan"; }

/// Size of the values that are duplicated when the attribute is copied.
std::size_t bytes_of_copy(const Attribute& attribute) {
  std::size_t bytes = attribute.name.size();
  if (const auto* text = std::get_if<std::string>(&attribute.value)) bytes += text->size();
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    bytes += integers->size() * sizeof(std::int64_t);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&attribute.value)) {
    bytes += reals->size() * sizeof(double);
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
    for (const std::string& text : *texts) bytes += sizeof(std::string) + text.size();
  }
  return bytes;
}

const Attribute* find_attribute(const std::vector<Attribute>& attributes, const std::string& name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

/// The name from which the names of a call's nodes are derived.
const std::string& label_of(const Node& node) { return node.name.empty() ? node.op : node.name; }

}  // namespace

struct FunctionInliner::Call {
  const Node& node;
  const Function& function;
  std::unordered_map<std::string, std::string> names;  // in the function -> in the graph
};

FunctionInliner::FunctionInliner(std::string where,
                                 const hesscope_onnx::ModelProto& model,
                                 std::int64_t opset,
                                 TensorReader& tensors,
                                 const OnnxLimits& limits)
    : where_(std::move(where)), model_(model), opset_(opset), tensors_(tensors), limits_(limits) {
  for (const hesscope_onnx::FunctionProto& function : model.functions()) {
    const Key key(domain_of(function.domain()), function.name(), function.overload());
    const auto [added, is_new] = functions_.try_emplace(key);
    added->second.stored = &function;
    if (!is_new) {
      throw InputError(
          fmt::format("{}: function '{}' occurs twice", where_, escaped(function.name())));
    }
  }
}

std::vector<Node> FunctionInliner::inlined_graph() {
  const hesscope_onnx::GraphProto& graph = model_.graph();
  if (static_cast<std::size_t>(graph.node_size()) > limits_.max_nodes) {
    throw InputError(fmt::format(
        "{}: has {} nodes; at most {} are read", where_, graph.node_size(), limits_.max_nodes));
  }
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
  add_names(graph);
  Scope scope;
  for (const hesscope_onnx::NodeProto& stored : graph.node()) emit(stored, scope);
  return std::move(nodes_);
}

// All names in the file: no generated name may be one of them.
void FunctionInliner::add_names(const hesscope_onnx::GraphProto& graph) {
  for (const auto& value : graph.input()) names_.insert(value.name());
  for (const auto& value : graph.output()) names_.insert(value.name());
  for (const auto& node : graph.node()) {
    names_.insert(node.input().begin(), node.input().end());
    names_.insert(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) add_names(attribute.g());
    }
  }
}

void FunctionInliner::emit(const hesscope_onnx::NodeProto& stored, Scope& scope) {
  FileNode read = read_node(where_, stored, tensors_);
  Node& node = read.node;
  if (!read.references.empty()) {
    throw InputError(
        fmt::format("{}: attribute '{}' refers to one of a function, but the node is in none",
                    node_text(where_, node),
                    read.references.front().attribute));
  }
  if (!scope.label.empty()) node.name = fmt::format("{}/{}", scope.label, label_of(node));
  for (std::string& name : node.inputs) name = scope.find(name);
  node.guards = scope.guards;
  if (node.op == kIf && node.domain.empty()) add_branches(node, stored, scope);
  if (is_loop(node.op) && node.domain.empty()) add_body(node, stored, scope);
  for (std::string& name : node.outputs) name = define(name, scope);
  emit(std::move(node), read.overload);
}

void FunctionInliner::add_branches(Node& node,
                                   const hesscope_onnx::NodeProto& stored,
                                   const Scope& scope) {
  if (node.inputs.size() != 1 || node.inputs[0].empty()) {
    throw InputError(node_text(where_, node) + ": it has not one input, the condition");
  }
  go_deeper(node);
  for (const bool is_true : {true, false}) {
    const std::string_view wanted = is_true ? "then_branch" : "else_branch";
    Scope inner;
    inner.around = &scope;
    inner.label = fmt::format("{}/{}", label_of(node), wanted);
    inner.guards = scope.guards;
    inner.guards.push_back({.condition = node.inputs[0], .is_true = is_true});
    add_branch(node, subgraph_of(node, stored, wanted), std::move(inner));
  }
  --depth_;
  node.attributes.clear();
}

const hesscope_onnx::GraphProto& FunctionInliner::subgraph_of(
    const Node& node, const hesscope_onnx::NodeProto& stored, std::string_view attribute) const {
  const auto found = std::ranges::find_if(stored.attribute(), [&](const auto& each) {
    return each.name() == attribute && each.has_g();
  });
  if (found == stored.attribute().end()) {
    throw InputError(fmt::format("{}: it has no {}", node_text(where_, node), attribute));
  }
  return found->g();
}

void FunctionInliner::go_deeper(const Node& node) {
  if (depth_ == limits_.max_function_depth) {
    throw InputError(fmt::format("{}: branches and loops are nested more than {} deep",
                                 node_text(where_, node),
                                 limits_.max_function_depth));
  }
  ++depth_;
}

void FunctionInliner::add_branch(Node& node, const hesscope_onnx::GraphProto& branch, Scope scope) {
  if (static_cast<std::size_t>(branch.output_size()) != node.outputs.size()) {
    throw InputError(fmt::format("{}: it has {} outputs, but its branch {} has {}",
                                 node_text(where_, node),
                                 node.outputs.size(),
                                 scope.label,
                                 branch.output_size()));
  }
  emit(branch, scope);
  for (const auto& output : branch.output()) node.inputs.push_back(scope.find(output.name()));
}

void FunctionInliner::add_body(Node& node,
                               const hesscope_onnx::NodeProto& stored,
                               const Scope& scope) {
  const hesscope_onnx::GraphProto& graph = subgraph_of(node, stored, "body");
  if (static_cast<std::size_t>(graph.input_size()) != node.inputs.size()) {
    throw InputError(fmt::format("{}: it has {} inputs, but its body has {}",
                                 node_text(where_, node),
                                 node.inputs.size(),
                                 graph.input_size()));
  }
  go_deeper(node);
  Scope inner;
  inner.around = &scope;
  inner.label = fmt::format("{}/body", label_of(node));
  Body body;
  for (const auto& input : graph.input()) body.inputs.push_back(define(input.name(), inner));
  std::vector<Node> around = std::exchange(nodes_, {});
  emit(graph, inner);
  body.nodes = std::exchange(nodes_, std::move(around));
  for (const auto& output : graph.output()) body.outputs.push_back(inner.find(output.name()));
  --depth_;

  std::unordered_set<std::string> known(body.inputs.begin(), body.inputs.end());
  known.insert("");  // an omitted input
  for (const Node& each : body.nodes) known.insert(each.outputs.begin(), each.outputs.end());
  const auto take = [&](const std::string& name) {
    if (known.insert(name).second) node.inputs.push_back(name);
  };
  for (const Node& each : body.nodes) std::ranges::for_each(each.inputs, take);
  std::ranges::for_each(body.outputs, take);
  std::erase_if(node.attributes, [](const auto& attribute) { return attribute.name == "body"; });
  node.body = std::make_shared<const Body>(std::move(body));
}

// Emits its initializers and its nodes.
void FunctionInliner::emit(const hesscope_onnx::GraphProto& graph, Scope& scope) {
  for (const hesscope_onnx::TensorProto& stored : graph.initializer()) {
    Node constant;
    constant.name = fmt::format("{}/{}", scope.label, stored.name());
    constant.op = "Constant";
    constant.guards = scope.guards;
    constant.attributes = {
        {"value",
         std::make_shared<const Tensor>(tensors_.read(node_text(where_, constant), stored))}};
    constant.outputs = {define(stored.name(), scope)};
    emit(std::move(constant), "");
  }
  for (const hesscope_onnx::NodeProto& stored : graph.node()) emit(stored, scope);
}

const std::string& FunctionInliner::Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around) {
    const auto known = scope->names.find(name);
    if (known != scope->names.end()) return known->second;
  }
  return name;
}

std::string FunctionInliner::define(const std::string& name, Scope& scope) {
  if (scope.around == nullptr || name.empty()) return name;
  checked_name(where_, "the name of a value", name);
  const auto [defined, is_new] =
      scope.names.emplace(name, fresh_name(fmt::format("{}/{}", scope.label, name)));
  if (!is_new) {
    throw InputError(fmt::format("{}: '{}' is made twice in {}", where_, name, scope.label));
  }
  count(defined->second.size());
  return defined->second;
}

void FunctionInliner::emit(Node node, const std::string& overload) {
  if (++num_steps_ > limits_.max_nodes) {
    throw InputError(fmt::format("{}: with its functions inlined, it has more than {} nodes",
                                 node_text(where_, node),
                                 limits_.max_nodes));
  }
  count(node.name.size());
  for (const Guard& guard : node.guards) count(sizeof(guard) + guard.condition.size());
  const auto called = functions_.find(Key(node.domain, node.op, overload));
  if (called == functions_.end()) {
    nodes_.push_back(std::move(node));
  } else {
    replace(node, called->second);
  }
}

void FunctionInliner::replace(const Node& node, Function& function) {
  const std::string where = node_text(where_, node);
  if (function.is_open) throw InputError(where + ": the function calls itself");
  if (depth_ == limits_.max_function_depth) {
    throw InputError(fmt::format(
        "{}: functions call each other more than {} deep", where, limits_.max_function_depth));
  }
  read(function, where);
  const auto& inputs = function.stored->input();
  const auto& outputs = function.stored->output();
  const auto require = [&](std::size_t given, int declared, const char* what) {
    if (given <= static_cast<std::size_t>(declared)) return;
    throw InputError(
        fmt::format("{}: it has {} {}, but the function only {}", where, given, what, declared));
  };
  require(node.inputs.size(), inputs.size(), "inputs");
  require(node.outputs.size(), outputs.size(), "outputs");

  Call call{node, function, {{"", ""}}};
  for (int i = 0; i < inputs.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    call.names.emplace(inputs[i], place < node.inputs.size() ? node.inputs[place] : "");
  }
  std::vector<std::pair<std::string, std::string>>
      passed_on;  // an input or another output: from, to
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const auto [known, is_new] = call.names.emplace(outputs[static_cast<int>(i)], node.outputs[i]);
    if (!is_new) passed_on.emplace_back(known->second, node.outputs[i]);
  }
  function.is_open = true;
  ++depth_;
  for (const FileNode& inner : function.nodes) emit(in_call(inner, call), inner.overload);
  for (const auto& [from, to] : passed_on) {
    Node identity;
    identity.name = label_of(node) + "/Identity";
    identity.op = "Identity";
    identity.inputs = {from};
    identity.outputs = {to};
    identity.guards = node.guards;
    emit(std::move(identity), "");
  }
  --depth_;
  function.is_open = false;
}

Node FunctionInliner::in_call(const FileNode& inner, Call& call) {
  const std::string& label = label_of(call.node);
  Node node;
  node.name = fmt::format("{}/{}", label, label_of(inner.node));
  node.op = inner.node.op;
  node.domain = inner.node.domain;
  node.guards = call.node.guards;
  std::size_t num_bytes = sizeof(Node) + node.name.size() + node.op.size() + node.domain.size();
  const auto renamed = [&](const std::string& name) -> const std::string& {
    const auto [known, is_new] = call.names.emplace(name, "");
    if (is_new) known->second = fresh_name(fmt::format("{}/{}", label, name));
    num_bytes += sizeof(std::string) + known->second.size();
    return known->second;
  };
  for (const std::string& name : inner.node.inputs) node.inputs.push_back(renamed(name));
  for (const std::string& name : inner.node.outputs) node.outputs.push_back(renamed(name));

  const auto add = [&](const std::string& name, const Attribute& from) {
    num_bytes += sizeof(Attribute) + bytes_of_copy(from);
    count(num_bytes);
    num_bytes = 0;
    node.attributes.push_back(from);
    node.attributes.back().name = name;
  };
  for (const Attribute& attribute : inner.node.attributes) add(attribute.name, attribute);
  for (const FileNode::Reference& reference : inner.references) {
    const Attribute* found = find_attribute(call.node.attributes, reference.of_function);
    if (found == nullptr) found = find_attribute(call.function.defaults, reference.of_function);
    if (found != nullptr) add(reference.attribute, *found);  // otherwise the operator's default
  }
  count(num_bytes);
  return node;
}

void FunctionInliner::read(Function& function, const std::string& where) {
  if (function.is_read) return;
  for (const hesscope_onnx::OperatorSetIdProto& import : function.stored->opset_import()) {
    if (!domain_of(import.domain()).empty() || import.version() == opset_) continue;
    throw InputError(
        fmt::format("{}: the function is written in opset {}, the model in opset {}; convert it to "
                    "one opset",
                    where,
                    import.version(),
                    opset_));
  }
  for (const hesscope_onnx::NodeProto& stored : function.stored->node()) {
    function.nodes.push_back(read_node(where, stored, tensors_));
  }
  for (const hesscope_onnx::AttributeProto& stored : function.stored->attribute_proto()) {
    function.defaults.push_back(read_attribute(where, stored, tensors_));
  }
  function.is_read = true;
}

void FunctionInliner::count(std::size_t num_bytes) {
  num_bytes_ += num_bytes;
  if (num_bytes_ > limits_.max_file_bytes) {
    throw InputError(fmt::format("{}: with its functions inlined, it has more than {} bytes",
                                 where_,
                                 limits_.max_file_bytes));
  }
}

std::string FunctionInliner::fresh_name(const std::string& wanted) {
  if (names_.insert(wanted).second) return wanted;
  for (std::size_t& i = copies_.try_emplace(wanted, 1).first->second;;) {
    std::string name = fmt::format("{}_{}", wanted, ++i);
    if (names_.insert(name).second) return name;
  }
}

}  // namespace hesscope::onnx
