// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <variant>

#include <hesscope/models/internal/onnx_indices.h>

namespace hesscope::detail {
namespace {

using onnx::Node;
using onnx::OnnxFile;

// Operators whose result has all entries of the first input, and no others.
constexpr std::array<std::string_view, 6> kSameEntries = {
    "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};

bool has_same_entries(const Node& node) {
  return node.domain.empty() && std::ranges::find(kSameEntries, node.op) != kSameEntries.end();
}

// Whether it is a type conversion that does not change indices.
bool is_wide_cast(const Node& node) {
  const onnx::Attribute* to = node.op == "Cast" ? node.find("to") : nullptr;
  constexpr std::int64_t kInt32 = 6;
  constexpr std::int64_t kInt64 = 7;
  const auto* type = to == nullptr ? nullptr : std::get_if<std::int64_t>(&to->value);
  return type != nullptr && (*type == kInt32 || *type == kInt64);
}

// The axis from which a Gather selects, if it belongs to an initializer.
std::optional<PickedAxis> gathered_axis(const OnnxFile& file, const Node& node) {
  const onnx::Tensor* table = file.find_initializer(node.inputs[0]);
  if (table == nullptr) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(table->shape.size());
  std::int64_t axis = 0;
  if (const onnx::Attribute* given = node.find("axis")) {
    const auto* number = std::get_if<std::int64_t>(&given->value);
    if (number == nullptr) return std::nullopt;
    axis = *number < 0 ? *number + rank : *number;
  }
  if (axis < 0 || axis >= rank) return std::nullopt;
  return PickedAxis{table->shape[static_cast<std::size_t>(axis)], table->name};
}

}  // namespace

std::optional<PickedAxis> picked_axis(const OnnxFile& file,
                                      const onnx::Dependencies& needs,
                                      const std::string& input) {
  std::set<std::string> same = {input};
  std::optional<PickedAxis> shortest;
  for (const std::size_t i : needs.nodes) {
    const Node& node = file.nodes[i];
    if (!node.guards.empty() || node.inputs.empty() || node.outputs.empty()) continue;
    if (same.contains(node.inputs[0]) && (has_same_entries(node) || is_wide_cast(node))) {
      same.insert(node.outputs[0]);
    }
    const bool is_gather = node.op == "Gather" && node.domain.empty() && node.inputs.size() == 2;
    if (!is_gather || !same.contains(node.inputs[1])) continue;
    const auto picked = gathered_axis(file, node);
    if (picked && picked->size > 0 && (!shortest || picked->size < shortest->size)) {
      shortest = picked;
    }
  }
  return shortest;
}

}  // namespace hesscope::detail
