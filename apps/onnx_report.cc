// SPDX-License-Identifier: BSD-3-Clause
#include "onnx_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shape.h>
#include <hesscope/import/importer.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/wrapped_names.h>

#include "table.h"

namespace hesscope::cli {
namespace {

constexpr std::size_t kMaxNames = 8;  // of one kind, in one line

// The nodes of one operator in a graph.
struct OperatorUse {
  std::size_t count = 0;
  std::optional<std::int64_t> first_opset;  // empty: not known
};

std::map<std::string, OperatorUse> operators_in(const onnx::OnnxFile& file) {
  std::map<std::string, OperatorUse> uses;
  for (const onnx::Node* node : file.all_nodes()) {
    const bool is_own = node->domain.empty();
    OperatorUse& use = uses[is_own ? node->op : fmt::format("{}.{}", node->domain, node->op)];
    ++use.count;
    if (is_own) use.first_opset = onnx::first_opset_of(node->op);
  }
  return uses;
}

std::string remark_on(const OperatorUse& use, std::int64_t opset) {
  if (!use.first_opset) return "not known";
  if (opset < *use.first_opset) return fmt::format("is read from opset {} on", *use.first_opset);
  return {};
}

// --- inputs and outputs ---

std::vector<std::string> axes_of(const onnx::ValueInfo& value) {
  std::vector<std::string> axes;
  for (const onnx::Dimension& axis : *value.shape) {
    axes.push_back(axis.size >= 0        ? fmt::format("{}", axis.size)
                   : axis.symbol.empty() ? "?"
                                         : axis.symbol);
  }
  return axes;
}

std::string axes_text(const onnx::ValueInfo& value) {
  return value.shape ? fmt::format("({})", fmt::join(axes_of(value), ", ")) : "not said";
}

// On which axis an input has its samples, and what follows if it has none.
std::string samples_text(const onnx::ValueInfo& input) {
  if (input.kind == onnx::ElementKind::kOther) {
    return "elements of this type are not computed with";
  }
  if (!input.shape) return "samples along its first axis";
  if (input.shape->empty()) return "refused: a single number has no axis of samples";
  const onnx::Dimension& first = input.shape->front();
  if (first.size == 1) {
    return "exported for a batch of 1: export with dynamic_axes, or say batch = 1 if the graph is "
           "that of one sample";
  }
  if (first.size >= 0) {
    return fmt::format("refused: exported for a batch of {}; export with dynamic_axes", first.size);
  }
  return first.symbol.empty() ? "samples along its first axis"
                              : fmt::format("samples along '{}'", first.symbol);
}

std::string values_text(const onnx::OnnxFile& file) {
  std::vector<std::vector<std::string>> rows = {{"input", "type", "axes", ""}};
  for (const onnx::ValueInfo& input : file.inputs) {
    rows.push_back(
        {input.name, onnx::type_name(input.onnx_type), axes_text(input), samples_text(input)});
  }
  std::string text = table_text(rows, rows.front().size());
  rows = {{"output", "type", "axes"}};
  for (const onnx::ValueInfo& output : file.outputs) {
    rows.push_back({output.name, onnx::type_name(output.onnx_type), axes_text(output)});
  }
  return fmt::format("{}\n{}", text, table_text(rows, rows.front().size()));
}

Json values_json(const std::vector<onnx::ValueInfo>& values, bool are_inputs) {
  Json list = Json::list();
  for (const onnx::ValueInfo& value : values) {
    Json entry = {{"name", value.name}, {"type", onnx::type_name(value.onnx_type)}};
    entry["axes"] = value.shape ? Json(axes_of(value)) : Json();
    if (are_inputs) entry["samples"] = samples_text(value);
    list.push_back(std::move(entry));
  }
  return list;
}

// --- tensors ---

std::int64_t num_entries(const OnnxTensorRole& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

// Parameters as a table; other tensors in one line for each reason.
std::string tensors_text(const OnnxInspection& graph) {
  std::vector<std::vector<std::string>> rows = {{"parameter", "shape", "entries"}};
  std::vector<std::pair<std::string, std::vector<std::string>>> others;
  std::string why;
  std::int64_t total = 0;
  for (const OnnxTensorRole& tensor : graph.tensors) {
    if (tensor.is_parameter) {
      total += num_entries(tensor);
      why = tensor.reason;
      rows.push_back(
          {tensor.name, shape_text(tensor.shape), fmt::format("{}", num_entries(tensor))});
      continue;
    }
    auto same = std::ranges::find(others, tensor.reason, [](const auto& x) { return x.first; });
    if (same == others.end()) {
      same = others.insert(others.end(), {tensor.reason, {}});
    }
    same->second.push_back(tensor.name);
  }
  const std::size_t count = rows.size() - 1;
  std::string text = count == 0 ? "no parameters\n"
                                : fmt::format("{}{} parameters in {} tensor{}: {}\n",
                                              table_text(rows, 2),
                                              total,
                                              count,
                                              count == 1 ? "" : "s",
                                              why);
  for (const auto& [reason, names] : others) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxNames));
    text +=
        fmt::format("constant{}: {}{}: {}\n",
                    names.size() == 1 ? "" : "s",
                    fmt::join(names.begin(), end, ", "),
                    names.size() > kMaxNames ? fmt::format(", ... ({} tensors)", names.size()) : "",
                    reason);
  }
  return text;
}

// Nodes and roles, or why they cannot be determined.
void look_into(OnnxInspection& graph, const Settings& settings, const TensorShapes& checkpoint) {
  try {
    const onnx::Dependencies needs = onnx::dependencies_of(graph.file, graph.output);
    graph.num_operators = needs.num_nodes();
    graph.tensors = onnx_tensor_roles(graph.file, needs, settings, checkpoint);
  } catch (const InputError& error) {
    graph.obstacle = error.what();
  }
}

}  // namespace

OnnxInspection inspect_graph(const io::TensorFile& file) {
  OnnxInspection graph{.file = onnx::read_onnx_file(file.path()), .output = {}};
  const std::vector<std::string> outputs = onnx::output_names(graph.file);
  if (outputs.empty()) {
    graph.obstacle = file.path().string() + ": the graph has no output";
    return graph;
  }
  graph.output = outputs.front();
  look_into(graph, Settings(), parameter_shapes_of(file));
  return graph;
}

std::optional<OnnxInspection> inspect_graph(const ProblemFile& problem,
                                            const io::TensorFile& checkpoint,
                                            const CheckpointFit& fit) {
  OnnxInspection graph;
  try {
    graph.file = onnx::read_onnx_file(problem.path.parent_path() / problem.model.text("file"));
  } catch (const InputError&) {
    return std::nullopt;
  }
  const std::vector<std::string> outputs = onnx::output_names(graph.file);
  if (problem.model.has("output")) {
    graph.output = problem.model.text("output");
  } else if (outputs.size() == 1) {
    graph.output = outputs.front();
  } else {
    return graph;  // the obstacle of the fit is reported
  }
  look_into(graph, problem.model, parameter_shapes_of(io::unwrapped(checkpoint)));
  graph.is_built = fit.obstacle.empty();
  return graph;
}

std::string graph_text(const OnnxInspection& graph) {
  const onnx::OnnxFile& file = graph.file;
  std::string text = fmt::format("graph: {}{}IR version {}, opset {}, {} nodes\n\n{}\n",
                                 file.producer,
                                 file.producer.empty() ? "" : ", ",
                                 file.ir_version,
                                 file.opset,
                                 file.all_nodes().size(),
                                 values_text(file));
  std::vector<std::vector<std::string>> rows = {{"operator", "", "nodes"}};
  for (const auto& [name, use] : operators_in(file)) {
    rows.push_back({name, remark_on(use, file.opset), fmt::format("{}", use.count)});
  }
  text += table_text(rows, 2);
  if (!graph.obstacle.empty()) {
    text += fmt::format("\n'{}' cannot be computed: {}\n", graph.output, graph.obstacle);
  } else if (!graph.output.empty()) {
    text += fmt::format("\nof output '{}', which needs {} nodes:\n\n{}",
                        graph.output,
                        graph.num_operators,
                        tensors_text(graph));
  }
  if (graph.is_built) {
    text += fmt::format("samples are independent: proved for {} operators\n", graph.num_operators);
  }
  return text;
}

Json graph_json(const OnnxInspection& graph) {
  const onnx::OnnxFile& file = graph.file;
  Json operators = Json::list();
  for (const auto& [name, use] : operators_in(file)) {
    operators.push_back({{"name", name},
                         {"nodes", use.count},
                         {"can_be_imported", remark_on(use, file.opset).empty()},
                         {"first_opset", use.first_opset}});
  }
  Json tensors = Json::list();
  for (const OnnxTensorRole& tensor : graph.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"shape", tensor.shape},
                       {"entries", num_entries(tensor)},
                       {"is_parameter", tensor.is_parameter},
                       {"reason", tensor.reason}});
  }
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"file", file.path.string()},
          {"sha256", file.sha256},
          {"producer", file.producer},
          {"ir_version", file.ir_version},
          {"opset", file.opset},
          {"nodes", file.all_nodes().size()},
          {"inputs", values_json(file.inputs, true)},
          {"outputs", values_json(file.outputs, false)},
          {"operators", operators},
          {"output", or_null(graph.output)},
          {"needed_nodes", graph.num_operators},
          {"tensors", tensors},
          {"samples_are_independent", graph.is_built ? Json(true) : Json()},
          {"obstacle", or_null(graph.obstacle)}};
}

std::string operators_text() {
  std::vector<std::vector<std::string>> rows = {{"operator", "from opset"}};
  for (const std::string& name : onnx::known_operators()) {
    rows.push_back({name, fmt::format("{}", onnx::first_opset_of(name).value_or(0))});
  }
  return table_text(rows);
}

Json operators_json() {
  Json operators = Json::list();
  for (const std::string& name : onnx::known_operators()) {
    operators.push_back({{"name", name}, {"first_opset", onnx::first_opset_of(name)}});
  }
  return {{"command", "inspect"}, {"operators", operators}};
}

}  // namespace hesscope::cli
