// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/problem/internal/graph_names.h>

namespace hesscope::detail {
namespace {

using Shape = std::vector<std::int64_t>;

// Compares bits; a graph with 32-bit numbers may correspond to 64-bit weights.
bool are_equal(double graph, double checkpoint, bool is_single) {
  if (is_single) return static_cast<float>(graph) == static_cast<float>(checkpoint);
  return graph == checkpoint;
}

// A tensor of the checkpoint that the graph does not have under any name.
struct Unknown {
  std::string name;
  Shape shape;
  std::vector<double> values;
};

bool is_the_same(const onnx::Tensor& ours, const Unknown& theirs) {
  const bool is_single = onnx::type_name(ours.onnx_type) == "float32";
  return ours.shape == theirs.shape &&
         std::ranges::equal(ours.reals, theirs.values, [&](double a, double b) {
           return are_equal(a, b, is_single);
         });
}

bool is_the_transpose(const onnx::Tensor& ours, const Unknown& theirs) {
  if (ours.shape.size() != 2 || theirs.shape.size() != 2) return false;
  if (ours.shape[0] != theirs.shape[1] || ours.shape[1] != theirs.shape[0]) return false;
  const bool is_single = onnx::type_name(ours.onnx_type) == "float32";
  const auto rows = static_cast<std::size_t>(ours.shape[0]);
  const auto cols = static_cast<std::size_t>(ours.shape[1]);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      if (!are_equal(ours.reals[i * cols + j], theirs.values[j * rows + i], is_single)) {
        return false;
      }
    }
  }
  return true;
}

std::vector<Unknown> unknown_tensors(const onnx::OnnxFile& graph,
                                     const io::TensorFile& checkpoint) {
  std::set<std::string> known;
  for (const onnx::Tensor& tensor : graph.initializers) known.insert(tensor.name);
  for (const onnx::Node& node : graph.nodes) known.insert(node.outputs.begin(), node.outputs.end());
  std::vector<Unknown> unknown;
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    if (known.contains(tensor.name) || tensor.shape.empty()) continue;
    unknown.push_back({tensor.name, tensor.shape, checkpoint.read(tensor.name)});
  }
  return unknown;
}

}  // namespace

std::vector<io::TensorRule> rules_by_value(const onnx::OnnxFile& graph,
                                           const io::TensorFile& checkpoint,
                                           std::string& doubt) {
  const std::vector<Unknown> unknown = unknown_tensors(graph, checkpoint);
  std::vector<io::TensorRule> rules;
  std::set<std::string> several;  // tensors to which several initializers could correspond
  for (const onnx::Tensor& tensor : graph.initializers) {
    if (tensor.kind != onnx::ElementKind::kReal || checkpoint.find(tensor.name) != nullptr)
      continue;
    std::vector<io::TensorRule> found;
    std::string either_way;  // what it is both directly and transposed
    for (const Unknown& theirs : unknown) {
      const bool as_is = is_the_same(tensor, theirs);
      const bool is_turned = is_the_transpose(tensor, theirs);
      if (!as_is && !is_turned) continue;
      if (as_is && is_turned && tensor.size() > 1) either_way = theirs.name;
      found.push_back({.name = tensor.name, .source = theirs.name, .transpose = !as_is});
    }
    if (found.size() != 1) continue;
    if (!either_way.empty()) {
      doubt = fmt::format(
          "'{}' is a symmetric matrix: whether the graph has it as '{}' as it is or transposed its "
          "numbers do not tell; export with other weights, or with the names of the state_dict",
          printable(either_way),
          printable(tensor.name));
      return {};
    }
    if (std::ranges::find(rules, found[0].source, &io::TensorRule::source) != rules.end()) {
      several.insert(found[0].source);
    }
    rules.push_back(std::move(found[0]));
  }
  std::erase_if(rules, [&](const io::TensorRule& rule) { return several.contains(rule.source); });
  return rules;
}

}  // namespace hesscope::detail
