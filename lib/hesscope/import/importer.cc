// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/autodiff/graph_folding.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/import/importer.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

constexpr std::int64_t kFloat = 1;  // TensorProto's type of 32-bit reals

const Operator* operator_of(const Node& node) {
  return node.domain.empty() ? find_operator(node.op) : nullptr;
}

// Which node makes a value; -1 for inputs and initializers.
std::unordered_map<std::string, int> makers(const OnnxFile& file) {
  std::unordered_map<std::string, int> made;
  for (const ValueInfo& input : file.inputs) made.emplace(input.name, -1);
  for (const Tensor& tensor : file.initializers) made.emplace(tensor.name, -1);
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    for (const std::string& output : file.nodes[i].outputs) {
      if (output.empty()) continue;
      if (!made.emplace(output, static_cast<int>(i)).second) {
        throw InputError(fmt::format("{}: {}: its output '{}' is made twice",
                                     file.path.string(),
                                     place_of(file.nodes[i], file.opset),
                                     printable(output)));
      }
    }
  }
  return made;
}

int maker_of(const OnnxFile& file,
             const std::unordered_map<std::string, int>& made,
             std::size_t user,
             const std::string& name) {
  const auto found = made.find(name);
  const bool is_there = found != made.end();
  if (is_there && found->second < static_cast<int>(user)) return found->second;
  throw InputError(fmt::format(
      "{}: {}: its input '{}' is {}",
      file.path.string(),
      place_of(file.nodes[user], file.opset),
      printable(name),
      is_there ? "made by a node that does not stand before it: nodes must be in order, "
                 "and no cycle is one"
               : "nowhere in the file: no input, no initializer, and made by no node"));
}

// All operators on the way that cannot be imported, in one message.
void require_known(const OnnxFile& file, const std::vector<std::size_t>& needed) {
  std::vector<std::string> unknown;
  for (const std::size_t i : needed) {
    const Node& node = file.nodes[i];
    if (const Operator* known = operator_of(node)) {
      if (file.opset >= known->first_opset) continue;
      throw InputError(fmt::format("{}: {}: is read from opset {} on; export for a newer one",
                                   file.path.string(),
                                   place_of(node, file.opset),
                                   known->first_opset));
    }
    const std::string name =
        node.domain.empty() ? node.op : fmt::format("{}.{}", node.domain, node.op);
    if (std::ranges::find(unknown, name) == unknown.end()) unknown.push_back(name);
  }
  if (unknown.empty()) return;
  for (std::string& name : unknown) name = printable(name);
  throw InputError(fmt::format(
      "{}: its output needs operators that are not known: {}; {} are, which "
      "`known_operators()` lists (random numbers, loops, results whose shape depends on data, "
      "and operators of other domains are not among them)",
      file.path.string(),
      fmt::join(unknown, ", "),
      operator_names().size()));
}

}  // namespace

std::vector<std::string> output_names(const OnnxFile& file) {
  std::vector<std::string> names;
  for (const ValueInfo& output : file.outputs) names.push_back(output.name);
  return names;
}

std::vector<std::string> known_operators() { return operator_names(); }

std::optional<std::int64_t> first_opset_of(const std::string& op) {
  const Operator* known = find_operator(op);
  if (known == nullptr) return std::nullopt;
  return known->first_opset;
}

Dependencies dependencies_of(const OnnxFile& file, const std::string& output) {
  const std::vector<std::string> outputs = output_names(file);
  if (std::ranges::find(outputs, output) == outputs.end()) {
    throw InputError(fmt::format("{}: no output '{}'{}; the graph has {}",
                                 file.path.string(),
                                 printable(output),
                                 did_you_mean(output, outputs),
                                 fmt::join(outputs, ", ")));
  }
  const auto made = makers(file);
  Dependencies needs;
  needs.output = output;
  needs.values = needs.with_slopes = {output};
  if (!made.contains(output)) {
    throw InputError(
        fmt::format("{}: output '{}' is made by no node", file.path.string(), printable(output)));
  }
  for (std::size_t i = file.nodes.size(); i-- > 0;) {
    const Node& node = file.nodes[i];
    const auto among = [&](const std::set<std::string>& names) {
      return std::ranges::any_of(node.outputs,
                                 [&](const auto& name) { return names.contains(name); });
    };
    if (!among(needs.values)) continue;
    needs.nodes.push_back(i);
    const Operator* known = operator_of(node);
    const bool has_slope = among(needs.with_slopes);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k].empty()) continue;
      maker_of(file, made, i, node.inputs[k]);
      needs.values.insert(node.inputs[k]);
      const bool passes = known == nullptr || k >= 32 || ((known->differentiable_inputs >> k) & 1U);
      if (has_slope && passes) needs.with_slopes.insert(node.inputs[k]);
    }
  }
  std::ranges::reverse(needs.nodes);
  require_known(file, needs.nodes);
  return needs;
}

Value constant_value(const OnnxFile& file, const Tensor& tensor, Graph& graph) {
  Value value{.kind = tensor.kind, .axes = plain_axes(tensor.shape)};
  value.is_single = tensor.onnx_type == kFloat;
  if (tensor.kind == ElementKind::kOther) {
    throw InputError(fmt::format("{}: '{}' has elements of type {}, which are not read",
                                 file.path.string(),
                                 printable(tensor.name),
                                 type_name(tensor.onnx_type)));
  }
  if (tensor.kind != ElementKind::kReal) {
    value.integers = std::make_shared<const Integers>(Integers{.base = tensor.integers});
    return value;
  }
  if (tensor.reals.empty()) {
    // Resize's and others' way to leave an input out; nothing can be computed with it.
    value.integers = std::make_shared<const Integers>();
    return value;
  }
  const auto cols = static_cast<Eigen::Index>(tensor.shape.empty() ? 1 : tensor.shape.back());
  value.var =
      graph.constant(tensor.reals, static_cast<Eigen::Index>(tensor.reals.size()) / cols, cols);
  return value;
}

namespace {

// Whether the node stands in a branch that is not taken, or of which that is not known: the If
// itself says so then.
bool is_left_out(const Node& node, const std::unordered_map<std::string, Value>& values) {
  return std::ranges::any_of(node.guards, [&](const Guard& guard) {
    const auto condition = values.find(guard.condition);
    if (condition == values.end() || !condition->second.is_known()) return true;
    const Integers& known = *condition->second.integers;
    return known.base.size() != 1 || known.depends_on_batch() ||
           (known.base.front() != 0) != guard.is_true;
  });
}

// Whether results have 32 bits: as operands of real numbers have, or as Cast says.
bool makes_singles(const OperatorCall& call, const Node& node) {
  if (node.op == "Cast") return call.integer("to", 0) == kFloat;
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (call.has(i) && call.input(i).is_single) return true;
  }
  return false;
}

// A constant of 32 bits, rounded to these; nothing for what is none.
std::optional<Value> rounded(Graph& graph, const Value& value) {
  if (!value.is_single || value.kind != ElementKind::kReal || !value.var) return std::nullopt;
  const auto entries = graph.constant_value(*value.var);
  if (entries.empty()) return std::nullopt;
  std::vector<double> stored;
  for (const double entry : entries) stored.push_back(as_single(entry));
  Value result = value;
  result.var = graph.constant(stored, value.var->rows(), value.var->cols());
  return result;
}

}  // namespace

Value import_output(const OnnxFile& file,
                    const Dependencies& needs,
                    Graph& graph,
                    const std::map<std::string, Value>& given,
                    const ImportLimits& limits) {
  Recording recording{.source = file.path.string(),
                      .graph = &graph,
                      .folder = ConstantFolder(graph),
                      .limits = limits};
  std::unordered_map<std::string, Value> values(given.begin(), given.end());
  for (const Tensor& tensor : file.initializers) {
    if (!needs.values.contains(tensor.name) || values.contains(tensor.name)) continue;
    values.emplace(tensor.name, constant_value(file, tensor, graph));
  }
  std::int64_t entries = 0;
  std::size_t counted = 0;
  std::set<std::string> left_out;  // results of nodes in branches that are not taken
  for (const std::size_t i : needs.nodes) {
    const Node& node = file.nodes[i];
    if (is_left_out(node, values)) {
      left_out.insert(node.outputs.begin(), node.outputs.end());
      continue;
    }
    std::vector<const Value*> inputs;
    for (const std::string& name : node.inputs) {
      const bool is_absent = name.empty() || left_out.contains(name);
      const auto found = is_absent ? values.end() : values.find(name);
      if (!is_absent && found == values.end()) {
        throw InputError(fmt::format("{}: {}: its input '{}' has no value",
                                     file.path.string(),
                                     place_of(node, file.opset),
                                     printable(name)));
      }
      inputs.push_back(is_absent ? nullptr : &found->second);
    }
    const Operator* const known = operator_of(node);
    std::vector<Value> stored;  // what `inputs` has instead
    if (known != nullptr && known->jumps) {
      stored.reserve(inputs.size());
      for (const Value*& input : inputs) {
        auto value = input == nullptr ? std::nullopt : rounded(graph, *input);
        if (value) input = &stored.emplace_back(*std::move(value));
      }
    }
    const OperatorCall call(node, file.opset, std::move(inputs), recording);
    const bool is_given = std::ranges::all_of(
        node.outputs, [&](const auto& name) { return name.empty() || given.contains(name); });
    Values results = is_given ? Values() : known->lower(call);
    for (Value& result : results) result.is_single = makes_singles(call, node);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (!needs.values.contains(node.outputs[k]) || given.contains(node.outputs[k])) continue;
      if (k >= results.size()) {
        call.refuse(
            "its output {} is not supported, and the model's output needs it as '{}': export the "
            "model without what uses it",
            k + 1,
            printable(node.outputs[k]));
      }
      values.insert_or_assign(node.outputs[k], results[k]);
    }
    for (; counted < graph.nodes().size(); ++counted) entries += graph.nodes()[counted].size();
    if (entries > limits.max_entries || counted > limits.max_nodes) {
      call.refuse(
          "the graph has come to {} nodes with {} numbers for each sample; at most {} and {} are "
          "taken",
          counted,
          entries,
          limits.max_nodes,
          limits.max_entries);
    }
  }
  return values.at(needs.output);
}

}  // namespace hesscope::onnx
