// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/name_list.h>
#include <hesscope/core/printable.h>
#include <hesscope/models/internal/onnx_inline_weights.h>

namespace hesscope::detail {
namespace {

using onnx::Node;
using onnx::Tensor;

// The origin of a value's numbers; shapes and the like have none.
struct Origin {
  bool has_constants = false;  // real numbers of Constant nodes
  bool has_others = false;     // initializers, inputs
};

bool holds_numbers(const Node& constant) {
  const onnx::Attribute* const value = constant.find("value");
  if (value == nullptr) return false;
  const auto* const tensor = std::get_if<std::shared_ptr<const Tensor>>(&value->value);
  return tensor != nullptr && (*tensor)->kind == onnx::ElementKind::kReal && (*tensor)->size() > 1;
}

// The inputs of a node that are weights to be learned.
std::vector<std::size_t> weights_of(const Node& node) {
  constexpr auto kRecurrent = std::to_array<std::string_view>({"LSTM", "GRU", "RNN"});
  constexpr auto kOneWeight = std::to_array<std::string_view>({"Conv", "ConvTranspose", "Gemm"});
  if (!node.domain.empty()) return {};
  if (std::ranges::find(kRecurrent, node.op) != kRecurrent.end()) return {1, 2};
  if (std::ranges::find(kOneWeight, node.op) != kOneWeight.end()) return {1};
  return {};
}

}  // namespace

std::string remark_on_inline_weights(const onnx::OnnxFile& file, const onnx::Dependencies& needs) {
  // For results of nodes; everything else is an initializer or an input.
  std::map<std::string, Origin> origins;
  const auto origin_of = [&](const std::string& name) {
    const auto found = origins.find(name);
    return found == origins.end() ? Origin{.has_others = !name.empty()} : found->second;
  };
  std::vector<std::string> names;
  for (const std::size_t i : needs.nodes) {
    const Node& node = file.nodes[i];
    Origin all;
    if (node.op == "Constant") {
      all.has_constants = holds_numbers(node);
    } else if (node.op != "Shape" && node.op != "Size") {
      for (const std::string& input : node.inputs) {
        const Origin origin = origin_of(input);
        all.has_constants = all.has_constants || origin.has_constants;
        all.has_others = all.has_others || origin.has_others;
      }
    }
    for (const std::string& output : node.outputs) origins[output] = all;
    const bool is_inline = std::ranges::any_of(weights_of(node), [&](std::size_t weight) {
      const Origin origin = origin_of(weight < node.inputs.size() ? node.inputs[weight] : "");
      return origin.has_constants && !origin.has_others;
    });
    if (is_inline) names.push_back(node.name.empty() ? node.outputs.front() : node.name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: the weights of {} are Constant nodes, as those of scripted recurrent modules are "
      "exported: constants, whatever a checkpoint holds. Where they have been trained, export the "
      "module itself, not what torch.jit.script() makes of it",
      file.path.string(),
      printable(first_names(names, 3)));
}

}  // namespace hesscope::detail
