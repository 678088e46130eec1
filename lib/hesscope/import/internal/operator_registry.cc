// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

const std::map<std::string_view, Operator>& registry() {
  static const std::map<std::string_view, Operator> operators = [] {
    std::map<std::string_view, Operator> all;
    for (const auto family : {
             elementwise_operators(), power_operators(),         logic_operators(),
             shape_operators(),       gather_operators(),        scatter_operators(),
             grid_operators(),        index_operators(),         filling_operators(),
             reduction_operators(),   product_operators(),       attention_operators(),
             convolution_operators(), fourier_operators(),       pad_operators(),
             pool_operators(),        normalization_operators(), order_operators(),
             resize_operators(),      recurrent_operators(),     loop_operators(),
             sequence_operators(),    loss_operators(),
         }) {
      for (const Operator& one : family) all.emplace(one.name, one);
    }
    return all;
  }();
  return operators;
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

const Operator* operator_of(const Node& node) {
  return node.domain.empty() ? find_operator(node.op) : nullptr;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, one] : registry()) names.emplace_back(name);
  return names;
}

}  // namespace hesscope::onnx
