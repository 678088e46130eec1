// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <hesscope/autodiff/graph_folding.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/importer.h>
#include <hesscope/import/internal/batch_totals.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

// A 32-bit constant, rounded to 32 bits; nothing for other values.
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

// Whether an attribute holds 32-bit real numbers.
bool is_single(const Attribute& attribute) {
  if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute.value)) {
    return (*tensor)->onnx_type == kFloat;
  }
  return std::holds_alternative<double>(attribute.value) ||
         std::holds_alternative<std::vector<double>>(attribute.value);
}

// Whether results have 32 bits: as do the real operands, or as the node states.
bool makes_singles(const OperatorCall& call, const Node& node) {
  if (node.op == "Cast") return call.integer("to", 0) == kFloat;
  if (node.op == "Constant") return std::ranges::any_of(node.attributes, is_single);
  if (node.op == "ConstantOfShape") {
    const Attribute* value = node.find("value");
    return value == nullptr || is_single(*value);
  }
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (call.has(i) && call.tensor_or_sequence(i).is_single) return true;
  }
  return false;
}

// Runs the needed nodes, those of a body as often as its loop requires.
class Import {
 public:
  Import(const OnnxFile& file,
         const Dependencies& needs,
         Graph& graph,
         const std::map<std::string, Value>& given,
         const ImportLimits& limits)
      : file_(file),
        needs_(needs),
        graph_(graph),
        given_(given),
        recording_{.source = file.path.string(),
                   .graph = &graph,
                   .folder = ConstantFolder(graph),
                   .limits = limits,
                   .run_body = [this](const Body& body,
                                      Values inputs) { return run_body(body, std::move(inputs)); }},
        values_(given.begin(), given.end()) {
    for (const Tensor& tensor : file.initializers) {
      if (!needs.values.contains(tensor.name) || values_.contains(tensor.name)) continue;
      values_.emplace(tensor.name, constant_value(file, tensor, graph));
    }
  }

  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  Value output() {
    run(file_.nodes, needs_.nodes);
    const Value& value = values_.at(needs_.output);
    if (value.is_sequence()) {
      throw InputError(fmt::format("{}: its output '{}' is a sequence of tensors, not a tensor",
                                   file_.path.string(),
                                   printable(needs_.output)));
    }
    if (value.counts_samples()) {
      throw InputError(fmt::format("{}: its output '{}' counts samples (Range over the batch, N)",
                                   file_.path.string(),
                                   printable(needs_.output)));
    }
    return value;
  }

 private:
  void run(const std::vector<Node>& nodes, const std::vector<std::size_t>& needed) {
    for (const std::size_t i : needed) {
      const Node& node = nodes[i];
      if (is_left_out(node)) {
        left_out_.insert(node.outputs.begin(), node.outputs.end());
      } else {
        run(node);
      }
    }
  }

  Values run_body(const Body& body, Values inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      values_.insert_or_assign(body.inputs[k], std::move(inputs[k]));
    }
    run(body.nodes, needs_.in_bodies.at(&body));
    Values outputs;
    for (const std::string& name : body.outputs) {
      outputs.push_back(values_.at(name));  // is needed
      const Value& output = outputs.back();
      if (output.batch_total == nullptr) continue;
      throw InputError(fmt::format(
          "{}: {} takes a {} over the batch (N) in a loop, where samples would interact",
          file_.path.string(),
          output.batch_total->place,
          output.batch_total->name()));
    }
    return outputs;
  }

  // Whether the node is in a branch that is not taken, or whose condition is not known; in the
  // latter case the If itself reports it.
  bool is_left_out(const Node& node) const {
    return std::ranges::any_of(node.guards, [&](const Guard& guard) {
      const auto condition = values_.find(guard.condition);
      if (condition == values_.end()) return true;
      const std::optional<std::int64_t> known = condition->second.single_integer();
      return !known || (*known != 0) != guard.is_true;
    });
  }

  std::vector<const Value*> inputs_of(const Node& node) const {
    std::vector<const Value*> inputs;
    for (const std::string& name : node.inputs) {
      const bool is_absent = name.empty() || left_out_.contains(name);
      const auto found = is_absent ? values_.end() : values_.find(name);
      // A value used by a body is available if it is needed; the body may not need it.
      const bool is_own = node.body == nullptr || inputs.size() < node.body->inputs.size();
      if (!is_absent && found == values_.end() && is_own) {
        throw InputError(fmt::format("{}: {}: its input '{}' has no value",
                                     file_.path.string(),
                                     place_of(node, file_.opset),
                                     printable(name)));
      }
      inputs.push_back(found == values_.end() ? nullptr : &found->second);
    }
    return inputs;
  }

  void run(const Node& node) {
    std::vector<const Value*> inputs = inputs_of(node);
    const Operator* const known = operator_of(node);
    std::vector<Value> stored;  // replaces entries of `inputs`
    if (known != nullptr && known->jumps) {
      stored.reserve(inputs.size());
      for (const Value*& input : inputs) {
        auto value = input == nullptr ? std::nullopt : rounded(graph_, *input);
        if (value) input = &stored.emplace_back(*std::move(value));
      }
    }
    const OperatorCall call(node, file_.opset, std::move(inputs), recording_);
    call.count_step();
    require_no_sample_numbers(call);
    const std::shared_ptr<const BatchTotal> batch_total = carried_batch_total(call);
    const bool is_given = std::ranges::all_of(
        node.outputs, [&](const auto& name) { return name.empty() || given_.contains(name); });
    Values results = is_given ? Values() : known->lower(call);
    for (Value& result : results) {
      result.is_single = makes_singles(call, node);
      if (batch_total == nullptr) continue;
      if (result.kind != ElementKind::kReal) {
        call.refuse("makes integers of what {} takes over the batch (N)", batch_total->place);
      }
      result.batch_total = batch_total;
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::string& name = node.outputs[k];
      left_out_.erase(name);  // from an earlier round of a loop
      if (!needs_.values.contains(name) || given_.contains(name)) continue;
      if (k >= results.size()) {
        call.refuse(
            "its output {} is not supported, and the model's output needs it as '{}': export the "
            "model without what uses it",
            k + 1,
            printable(name));
      }
      values_.insert_or_assign(name, results[k]);
    }
    require_room(call);
  }

  void require_room(const OperatorCall& call) {
    for (; num_counted_ < graph_.nodes().size(); ++num_counted_) {
      num_entries_ += graph_.nodes()[num_counted_].size();
    }
    const ImportLimits& limits = recording_.limits;
    if (num_entries_ <= limits.max_entries && num_counted_ <= limits.max_nodes) return;
    call.refuse(
        "the graph has come to {} nodes with {} numbers for each sample; at most {} and {} are "
        "taken",
        num_counted_,
        num_entries_,
        limits.max_nodes,
        limits.max_entries);
  }

  const OnnxFile& file_;
  const Dependencies& needs_;
  Graph& graph_;
  const std::map<std::string, Value>& given_;
  Recording recording_;
  std::unordered_map<std::string, Value> values_;
  std::set<std::string> left_out_;  // results of nodes in branches not taken
  std::int64_t num_entries_ = 0;
  std::size_t num_counted_ = 0;  // nodes of the graph already counted
};

}  // namespace

std::vector<std::string> known_operators() { return operator_names(); }

std::optional<std::int64_t> first_opset_of(const std::string& op) {
  const Operator* known = find_operator(op);
  if (known == nullptr) return std::nullopt;
  return known->first_opset;
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
    // The way of Resize and others to omit an input; nothing can be computed with it.
    value.integers = std::make_shared<const Integers>();
    return value;
  }
  const auto cols = static_cast<Eigen::Index>(tensor.shape.empty() ? 1 : tensor.shape.back());
  value.var =
      graph.constant(tensor.reals, static_cast<Eigen::Index>(tensor.reals.size()) / cols, cols);
  return value;
}

Value import_output(const OnnxFile& file,
                    const Dependencies& needs,
                    Graph& graph,
                    const std::map<std::string, Value>& given,
                    const ImportLimits& limits) {
  return Import(file, needs, graph, given, limits).output();
}

}  // namespace hesscope::onnx
