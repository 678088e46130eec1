// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/import/dependencies.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// Walks backwards from an output, entering bodies when their loop is reached.
class DependencyWalk {
 public:
  DependencyWalk(const OnnxFile& file, Dependencies& needs) : file_(file), needs_(needs) {
    for (const ValueInfo& input : file.inputs) made_.emplace(input.name, 0);
    for (const Tensor& tensor : file.initializers) made_.emplace(tensor.name, 0);
    add_made(file.nodes);
  }

  bool is_made_by_node(const std::string& name) const { return made_.contains(name); }

  // The indices of the nodes that are needed, as far as known now.
  std::vector<std::size_t> needed(const std::vector<Node>& nodes) {
    std::vector<std::size_t> found;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = nodes[i];
      if (!is_any_among(node.outputs, needs_.values)) continue;
      found.push_back(i);
      require_known(node);
      const bool has_slope = is_any_among(node.outputs, needs_.with_slopes);
      if (node.body != nullptr) need_body(node, has_slope);
      need_inputs(node, has_slope);
    }
    std::ranges::reverse(found);
    return found;
  }

  // Reports all operators on the way that cannot be imported, in one message.
  void refuse_unknown() const {
    if (unknown_.empty()) return;
    std::vector<std::string> names;  // from the front
    for (auto name = unknown_.rbegin(); name != unknown_.rend(); ++name) {
      names.push_back(printable(*name));
    }
    throw InputError(fmt::format(
        "{}: its output needs operators that are not known: {}; {} are, which "
        "`known_operators()` lists (random numbers, results whose shape depends on data, and "
        "operators of other domains are not among them)",
        file_.path.string(),
        fmt::join(names, ", "),
        known_operators().size()));
  }

 private:
  static bool is_any_among(const std::vector<std::string>& names,
                           const std::set<std::string>& all) {
    return std::ranges::any_of(names, [&](const auto& name) { return all.contains(name); });
  }

  // Numbers all nodes, from 1 on, and records which node makes each value; 0 for inputs and
  // initializers. Nodes of a body come before its loop.
  void add_made(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.body != nullptr) {
        ++num_nodes_;
        for (const std::string& input : node.body->inputs) add_made(node, input);
        add_made(node.body->nodes);
      }
      numbers_[&node] = ++num_nodes_;
      for (const std::string& output : node.outputs) add_made(node, output);
    }
  }

  void add_made(const Node& node, const std::string& name) {
    if (name.empty() || made_.emplace(name, num_nodes_).second) return;
    throw InputError(fmt::format("{}: {}: its output '{}' is made twice",
                                 file_.path.string(),
                                 place_of(node, file_.opset),
                                 printable(name)));
  }

  void require_known(const Node& node) {
    if (const Operator* known = operator_of(node)) {
      if (file_.opset >= known->first_opset) return;
      throw InputError(fmt::format("{}: {}: is read from opset {} on; export for a newer one",
                                   file_.path.string(),
                                   place_of(node, file_.opset),
                                   known->first_opset));
    }
    const std::string name =
        node.domain.empty() ? node.op : fmt::format("{}.{}", node.domain, node.op);
    std::erase(unknown_, name);
    unknown_.push_back(name);
  }

  // Needs everything that the body returns, with a derivative wherever there is a slope.
  void need_body(const Node& node, bool has_slope) {
    const Body& body = *node.body;
    const std::size_t first = node.op == "Loop" ? 1 : 0;  // its condition
    for (std::size_t k = 0; k < body.outputs.size(); ++k) {
      require_made(node, body.outputs[k]);
      needs_.values.insert(body.outputs[k]);
      if (has_slope && k >= first) needs_.with_slopes.insert(body.outputs[k]);
    }
    needs_.in_bodies[&body] = needed(body.nodes);
  }

  void need_inputs(const Node& node, bool has_slope) {
    const Operator* known = operator_of(node);
    // The inputs that follow are used by a body, which has itself declared which of them it needs.
    const std::size_t own = node.body != nullptr ? node.body->inputs.size() : node.inputs.size();
    for (std::size_t k = 0; k < own; ++k) {
      if (node.inputs[k].empty()) continue;
      require_made(node, node.inputs[k]);
      needs_.values.insert(node.inputs[k]);
      const bool passes = known == nullptr || k >= 32 || ((known->differentiable_inputs >> k) & 1U);
      if (has_slope && passes) needs_.with_slopes.insert(node.inputs[k]);
    }
  }

  void require_made(const Node& node, const std::string& name) const {
    const auto found = made_.find(name);
    const bool is_there = found != made_.end();
    if (is_there && found->second < numbers_.at(&node)) return;
    throw InputError(fmt::format(
        "{}: {}: its input '{}' is {}",
        file_.path.string(),
        place_of(node, file_.opset),
        printable(name),
        is_there ? "made by a node that does not stand before it: nodes must be in order, "
                   "and no cycle is one"
                 : "nowhere in the file: no input, no initializer, and made by no node"));
  }

  const OnnxFile& file_;
  Dependencies& needs_;
  std::size_t num_nodes_ = 0;
  std::unordered_map<std::string, std::size_t> made_;
  std::unordered_map<const Node*, std::size_t> numbers_;
  std::vector<std::string> unknown_;  // from the end
};

}  // namespace

std::size_t Dependencies::num_nodes() const {
  std::size_t count = nodes.size();
  for (const auto& [body, in_body] : in_bodies) count += in_body.size();
  return count;
}

std::vector<std::string> output_names(const OnnxFile& file) {
  std::vector<std::string> names;
  for (const ValueInfo& output : file.outputs) names.push_back(output.name);
  return names;
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
  Dependencies needs;
  needs.output = output;
  needs.values = needs.with_slopes = {output};
  DependencyWalk walk(file, needs);
  if (!walk.is_made_by_node(output)) {
    throw InputError(
        fmt::format("{}: output '{}' is made by no node", file.path.string(), printable(output)));
  }
  needs.nodes = walk.needed(file.nodes);
  walk.refuse_unknown();
  return needs;
}

}  // namespace hesscope::onnx
