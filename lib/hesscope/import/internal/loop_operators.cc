// SPDX-License-Identifier: BSD-3-Clause
//
// Loops are unrolled: the number of rounds must be known without data.
#include <algorithm>
#include <array>
#include <limits>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

Value known_scalar_value(const OperatorCall& call, std::int64_t x, ElementKind kind) {
  return call.known_result({.base = {x}}, {}, kind);
}

// Whether a loop continues, from its condition.
bool goes_on(const OperatorCall& call, const Value& condition) {
  const std::optional<std::int64_t> known = condition.single_integer();
  if (!known) {
    call.refuse(
        "its condition depends on data, parameters, or the number of samples, and how often it "
        "goes round must be known before");
  }
  return *known != 0;
}

// Results of the rounds that are kept, one list for each output.
class Kept {
 public:
  explicit Kept(std::size_t count) : lists_(count) {}

  std::size_t count() const { return lists_.size(); }

  void add(std::span<const Value> of_round) {
    for (std::size_t k = 0; k < lists_.size(); ++k) lists_[k].push_back(of_round[k]);
  }

  Values& list(std::size_t k) { return lists_[k]; }

  // Stacks them along new axes, if the node outputs them and anything uses them.
  void add_stacked(const OperatorCall& call,
                   const std::vector<std::int64_t>& axes,
                   Values& results) const {
    for (std::size_t k = 0; k < lists_.size(); ++k) {
      const bool is_named =
          results.size() < call.num_outputs() && !call.node().outputs[results.size()].empty();
      if (is_named && lists_[k].empty()) {
        call.refuse("goes round not once, and its output {} would be without entries",
                    results.size() + 1);
      }
      for (const Value& each : lists_[k]) {
        if (each.is_sequence())
          call.refuse("would stack sequences as output {}", results.size() + 1);
      }
      results.push_back(is_named ? stacked(call, lists_[k], axes[k]) : Value{});
    }
  }

 private:
  std::vector<Values> lists_;
};

// Inputs: the maximal number of rounds, the condition, the state. The body's inputs: the round, the
// condition, the state; its outputs: the condition, the state, what is stacked.
Values lower_loop(const OperatorCall& call) {
  const Body& body = call.body();
  constexpr std::size_t kFirst = 2;  // index of the state
  const std::size_t num_states = body.inputs.size() - std::min(kFirst, body.inputs.size());
  if (body.inputs.size() < kFirst || body.outputs.size() < 1 + num_states) {
    call.refuse("its body has {} inputs and {} outputs", body.inputs.size(), body.outputs.size());
  }
  const bool has_condition = call.has(1);
  if (!call.has(0) && !has_condition) call.refuse("has no end");
  const std::int64_t most = call.known_scalar(0).value_or(std::numeric_limits<std::int64_t>::max());
  bool is_on = !has_condition || goes_on(call, call.tensor_or_sequence(1));
  Values state;
  for (std::size_t k = 0; k < num_states; ++k) {
    state.push_back(call.tensor_or_sequence(kFirst + k));
  }
  Kept kept(body.outputs.size() - 1 - num_states);
  for (std::int64_t round = 0; round < most && is_on; ++round) {
    Values inputs = {known_scalar_value(call, round, ElementKind::kInteger),
                     known_scalar_value(call, 1, ElementKind::kBoolean)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const Values outputs = call.run_body(std::move(inputs));
    is_on = !has_condition || goes_on(call, outputs[0]);
    const auto first = outputs.begin() + 1;
    const auto end_of_state = first + static_cast<std::ptrdiff_t>(num_states);
    state.assign(first, end_of_state);
    kept.add({end_of_state, outputs.end()});
  }
  Values results = std::move(state);
  kept.add_stacked(call, std::vector<std::int64_t>(kept.count(), 0), results);
  return results;
}

std::vector<std::int64_t> list_or_zeros(const OperatorCall& call,
                                        const std::string& name,
                                        std::size_t count) {
  std::vector<std::int64_t> list = call.integers(name);
  if (list.empty()) list.assign(count, 0);
  if (list.size() != count) {
    call.refuse("attribute '{}' has {} entries for {}", name, list.size(), count);
  }
  return list;
}

// Inputs of the node and of the body: the state, then the sequences to traverse. Outputs of both:
// the state, then what is stacked.
Values lower_scan(const OperatorCall& call) {
  const Body& body = call.body();
  const std::int64_t given = call.integer("num_scan_inputs", 0);
  const auto num_inputs = static_cast<std::int64_t>(body.inputs.size());
  if (given < 1 || given > num_inputs) {
    call.refuse("goes through {} of its {} inputs", given, num_inputs);
  }
  const auto num_scanned = static_cast<std::size_t>(given);
  const std::size_t num_states = body.inputs.size() - num_scanned;
  if (body.outputs.size() < num_states) {
    call.refuse("its body has {} outputs for a state of {}", body.outputs.size(), num_states);
  }
  Kept kept(body.outputs.size() - num_states);
  const auto in_axes = list_or_zeros(call, "scan_input_axes", num_scanned);
  const auto in_reversed = list_or_zeros(call, "scan_input_directions", num_scanned);
  const auto out_axes = list_or_zeros(call, "scan_output_axes", kept.count());
  const auto out_reversed = list_or_zeros(call, "scan_output_directions", kept.count());
  std::vector<int> axes;
  std::int64_t length = -1;
  for (std::size_t k = 0; k < num_scanned; ++k) {
    const Value& scanned = call.input(num_states + k);
    axes.push_back(call.axis(in_axes[k], scanned.rank()));
    call.require_no_batch(scanned, axes.back(), "goes along");
    const std::int64_t size = scanned.axes[static_cast<std::size_t>(axes.back())].size;
    if (length >= 0 && size != length) call.refuse("goes along axes of {} and {}", length, size);
    length = size;
  }
  Values state;
  for (std::size_t k = 0; k < num_states; ++k) state.push_back(call.tensor_or_sequence(k));
  for (std::int64_t round = 0; round < length; ++round) {
    Values inputs = state;
    for (std::size_t k = 0; k < num_scanned; ++k) {
      const std::int64_t index = in_reversed[k] != 0 ? length - 1 - round : round;
      inputs.push_back(entry_of_axis(call, call.input(num_states + k), axes[k], index));
    }
    const Values outputs = call.run_body(std::move(inputs));
    const auto end_of_state = outputs.begin() + static_cast<std::ptrdiff_t>(num_states);
    state.assign(outputs.begin(), end_of_state);
    kept.add({end_of_state, outputs.end()});
  }
  for (std::size_t k = 0; k < kept.count(); ++k) {
    if (out_reversed[k] != 0) std::ranges::reverse(kept.list(k));
  }
  Values results = std::move(state);
  kept.add_stacked(call, out_axes, results);
  return results;
}

}  // namespace

std::span<const Operator> loop_operators() {
  static constexpr auto kLoopOperators = std::to_array<Operator>({
      {"Loop", lower_loop, kAllSlopes & ~std::uint32_t{3}, 1},
      {"Scan", lower_scan, kAllSlopes, 9},
  });
  return kLoopOperators;
}

}  // namespace hesscope::onnx
