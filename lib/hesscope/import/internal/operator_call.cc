// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

std::string place_of(const Node& node, std::int64_t opset) {
  const bool has_name = !node.name.empty();
  const std::string name = has_name               ? node.name
                           : node.outputs.empty() ? std::string()
                                                  : node.outputs.front();
  return fmt::format("node '{}' ({}{}, opset {})",
                     printable(name),
                     node.domain.empty() ? "" : printable(node.domain) + ".",
                     printable(node.op),
                     opset);
}

void OperatorCall::refuse_with(const std::string& why) const {
  throw InputError(fmt::format("{}: {}: {}", recording_->source, place_of(*node_, opset_), why));
}

const Value& OperatorCall::tensor_or_sequence(std::size_t i) const {
  if (!has(i)) refuse("needs an input {}", i + 1);
  return *inputs_[i];
}

const Value& OperatorCall::input(std::size_t i) const {
  const Value& value = tensor_or_sequence(i);
  if (value.is_sequence()) refuse("input {} is a sequence; it takes a tensor", i + 1);
  return value;
}

const std::vector<Value>& OperatorCall::sequence(std::size_t i) const {
  const Value& value = tensor_or_sequence(i);
  if (!value.is_sequence()) refuse("input {} is a tensor; it takes a sequence", i + 1);
  return *value.tensors;
}

std::optional<std::int64_t> OperatorCall::known_scalar(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const std::vector<std::int64_t> entries = known(i);
  if (entries.size() != 1) refuse("input {} has {} entries; it takes one", i + 1, entries.size());
  return entries.front();
}

Value OperatorCall::real(std::size_t i) const { return real(input(i)); }

Value OperatorCall::real(const Value& value) const {
  if (!value.is_known()) return value;
  if (value.integers->depends_on_batch()) {
    refuse(
        "computes with the number of samples: a sample's result would depend on how many others "
        "there are in the batch");
  }
  if (value.integers->base.empty()) refuse("computes with a tensor that has no entries");
  std::vector<double> entries(value.integers->base.begin(), value.integers->base.end());
  return {.kind = ElementKind::kReal, .axes = value.axes, .var = constant(entries)};
}

void OperatorCall::require_common(std::size_t i) const {
  if (batch_axis(input(i).axes) < 0) return;
  refuse("input {} has entries {} for each sample (N); it must be the same for any number of them",
         i + 1,
         onnx::text(input(i).axes));
}

std::vector<std::int64_t> OperatorCall::known(std::size_t i) const {
  std::vector<std::int64_t> known = known_of_one(i);
  require_common(i);
  return known;
}

std::vector<double> OperatorCall::known_reals(std::size_t i) const {
  std::vector<double> known = known_reals_of_one(i);
  require_common(i);
  return known;
}

std::vector<std::int64_t> OperatorCall::known_of_one(std::size_t i) const {
  const Value& value = input(i);
  if (!value.is_known()) {
    refuse(
        "input {} must be known before there are data: integers that are constants, or computed "
        "from constants and shapes",
        i + 1);
  }
  if (value.integers->depends_on_batch()) {
    refuse(
        "input {} depends on the number of samples in the batch; a graph that was exported for one "
        "sample is taken with batch = 1",
        i + 1);
  }
  return value.integers->base;
}

std::vector<double> OperatorCall::known_reals_of_one(std::size_t i) const {
  const Value& value = input(i);
  if (value.is_known()) {
    const std::vector<std::int64_t> integers = known_of_one(i);
    return {integers.begin(), integers.end()};
  }
  const auto entries = graph().constant_value(*value.var);
  if (entries.empty()) refuse("input {} must be a constant", i + 1);
  return {entries.begin(), entries.end()};
}

void OperatorCall::require_no_integers(std::size_t i, const std::string& what) const {
  if (input(i).kind != ElementKind::kInteger) return;
  refuse("{} integers, and the result would be no integers: cast them to real numbers before",
         what);
}

template <typename T>
const T* OperatorCall::attribute(const std::string& name) const {
  const Attribute* found = node_->find(name);
  if (found == nullptr) return nullptr;
  const T* value = std::get_if<T>(&found->value);
  if (value == nullptr) refuse("attribute '{}' is of another type than this operator takes", name);
  return value;
}

std::int64_t OperatorCall::integer(const std::string& name, std::int64_t fallback) const {
  const auto* value = attribute<std::int64_t>(name);
  return value == nullptr ? fallback : *value;
}

double OperatorCall::number(const std::string& name, double fallback) const {
  const auto* value = attribute<double>(name);
  return value == nullptr ? fallback : *value;
}

std::string OperatorCall::text(const std::string& name, const std::string& fallback) const {
  const auto* value = attribute<std::string>(name);
  return value == nullptr ? fallback : *value;
}

std::vector<std::int64_t> OperatorCall::integers(const std::string& name) const {
  const auto* value = attribute<std::vector<std::int64_t>>(name);
  return value == nullptr ? std::vector<std::int64_t>() : *value;
}

std::vector<double> OperatorCall::numbers(const std::string& name) const {
  const auto* value = attribute<std::vector<double>>(name);
  return value == nullptr ? std::vector<double>() : *value;
}

std::vector<std::string> OperatorCall::texts(const std::string& name) const {
  const auto* value = attribute<std::vector<std::string>>(name);
  return value == nullptr ? std::vector<std::string>() : *value;
}

std::optional<std::vector<std::int64_t>> OperatorCall::list(const std::string& name,
                                                            std::size_t i) const {
  if (has_attribute(name)) return integers(name);
  if (has(i)) return known(i);
  return std::nullopt;
}

int OperatorCall::axis(std::int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    refuse("axis {} is not one of a tensor of rank {}", axis, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> OperatorCall::axes(const std::vector<std::int64_t>& list, int rank) const {
  require_rank(list.size());
  std::vector<int> found;
  for (const std::int64_t entry : list) {
    found.push_back(axis(entry, rank));
    if (std::count(found.begin(), found.end(), found.back()) > 1) {
      refuse("axis {} is named twice", entry);
    }
  }
  return found;
}

void OperatorCall::require_no_batch(const Value& value, int axis, const std::string& what) const {
  if (!value.axes[static_cast<std::size_t>(axis)].has_batch) return;
  refuse("{} axis {} of {}, the batch (N): samples would interact",
         what,
         axis,
         onnx::text(value.axes));
}

const Body& OperatorCall::body() const {
  if (node_->body == nullptr) {
    refuse("stands in a function, where loops are not read: inline the model's functions");
  }
  return *node_->body;
}

std::vector<Value> OperatorCall::run_body(std::vector<Value> inputs) const {
  count_step();
  return recording_->run_body(body(), std::move(inputs));
}

void OperatorCall::count_step() const {
  if (++recording_->num_steps <= recording_->limits.max_steps) return;
  refuse("the graph has, with its loops unrolled, more than {} steps",
         recording_->limits.max_steps);
}

void OperatorCall::require_rank(std::size_t rank) const {
  const auto most = static_cast<std::size_t>(recording_->limits.max_rank);
  if (rank > most) refuse("names or makes {} axes; at most {} are taken", rank, most);
}

void OperatorCall::require_parts(std::size_t num_parts) const {
  const std::size_t most = recording_->limits.max_nodes;
  if (num_parts > most) refuse("makes {} parts; at most {} are taken", num_parts, most);
}

void OperatorCall::count_moves(std::int64_t num_entries) const {
  recording_->num_moves += num_entries;
  if (recording_->num_moves <= recording_->limits.max_moves) return;
  refuse("moves, with what is before it, {} entries from place to place; at most {} are moved",
         recording_->num_moves,
         recording_->limits.max_moves);
}

std::int64_t OperatorCall::checked_size(const Axes& axes) const {
  require_rank(axes.size());
  std::int64_t size = 1;
  for (const Axis& axis : axes) {
    if (axis.size < 1) refuse("would make a tensor {} without entries", onnx::text(axes));
    if (axis.size > recording_->limits.max_tensor_entries / size) {
      refuse("would make a tensor {}; at most {} entries a sample are taken",
             onnx::text(axes),
             recording_->limits.max_tensor_entries);
    }
    size *= axis.size;
  }
  return size;
}

void OperatorCall::count_products() const {
  const auto nodes = graph().nodes();
  for (; recording_->num_counted < nodes.size(); ++recording_->num_counted) {
    const Graph::Node& node = nodes[recording_->num_counted];
    if (node.op != Graph::Op::kMatmul) continue;
    const Graph::Node& a = nodes[static_cast<std::size_t>(node.a)];
    const Eigen::Index stack = node.is_shared_a ? 1 : node.stack;
    // The number of entries of a tensor is limited: neither factor exceeds 10^7.
    recording_->num_products += node.size() * (node.transpose_a ? a.rows / stack : a.cols);
  }
  if (recording_->num_products > recording_->limits.max_products) {
    refuse(
        "constants are multiplied here, with those before it, in {} multiplications; at most {} "
        "are made while importing. Store the result in the model instead",
        recording_->num_products,
        recording_->limits.max_products);
  }
}

Value OperatorCall::result(Var var, Axes axes, ElementKind kind) const {
  if (recording_->folder.is_constant(var)) count_products();
  recording_->num_counted = graph().nodes().size();
  return {.kind = kind, .axes = std::move(axes), .var = recording_->folder.folded(var)};
}

Value OperatorCall::known_result(Integers integers, Axes axes, ElementKind kind) const {
  require_rank(axes.size());
  if (static_cast<std::int64_t>(integers.base.size()) > recording_->limits.max_integers) {
    refuse("would make {} integers of shapes and indices; at most {} are taken",
           integers.base.size(),
           recording_->limits.max_integers);
  }
  recording_->num_integers += static_cast<std::int64_t>(integers.base.size());
  if (recording_->num_integers > recording_->limits.max_all_integers) {
    refuse(
        "has come, with what is before it, to {} integers of shapes and indices; at most {} are "
        "taken",
        recording_->num_integers,
        recording_->limits.max_all_integers);
  }
  if (!integers.depends_on_batch()) integers.per_sample.clear();
  return {.kind = kind,
          .axes = std::move(axes),
          .integers = std::make_shared<const Integers>(std::move(integers))};
}

Value OperatorCall::sequence_result(std::vector<Value> tensors) const {
  recording_->num_in_sequences += tensors.size();
  if (recording_->num_in_sequences > recording_->limits.max_in_sequences) {
    refuse("has come, with what is before it, to {} tensors in sequences; at most {} are taken",
           recording_->num_in_sequences,
           recording_->limits.max_in_sequences);
  }
  Value value;
  value.tensors = std::make_shared<const std::vector<Value>>(std::move(tensors));
  return value;
}

Var OperatorCall::constant(std::span<const double> entries) const {
  return graph().constant(entries, static_cast<Eigen::Index>(entries.size()), 1);
}

std::optional<double> OperatorCall::single_number(const Value& value) const {
  if (value.size() != 1) return std::nullopt;
  if (value.is_known()) {
    const std::optional<std::int64_t> known = value.single_integer();
    return known ? std::optional(static_cast<double>(*known)) : std::nullopt;
  }
  const auto entries = graph().constant_value(*value.var);
  if (entries.empty()) return std::nullopt;
  return entries.front();
}

}  // namespace hesscope::onnx
