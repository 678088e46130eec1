// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

struct Taker {
  std::string_view name;
  unsigned inputs;  // bit i: input i may count samples
};

constexpr unsigned kFirst = 0b1;
constexpr unsigned kSecond = 0b10;
constexpr unsigned kAll = ~0u;

constexpr std::array kTakers = {
    Taker{"Add", kAll},
    Taker{"Cast", kFirst},
    Taker{"Concat", kAll},
    Taker{"Expand", kFirst},
    Taker{"Flatten", kFirst},
    Taker{"Gather", kSecond},
    Taker{"GatherND", kSecond},
    Taker{"Identity", kFirst},
    Taker{"Mul", kAll},
    Taker{"Reshape", kFirst},
    Taker{"Shape", kFirst},
    Taker{"Size", kFirst},
    Taker{"Squeeze", kFirst},
    Taker{"Sub", kAll},
    Taker{"Transpose", kFirst},
    Taker{"Unsqueeze", kFirst},
};

unsigned inputs_taken(std::string_view op) {
  const auto found = std::ranges::find(kTakers, op, &Taker::name);
  return found == kTakers.end() ? 0 : found->inputs;
}

std::vector<std::int64_t> steps_of(const Value& value) {
  if (value.counts_samples()) return *value.sample_steps;
  return std::vector<std::int64_t>(static_cast<std::size_t>(value.size()));
}

// Integers for the entries of a value, repeated to reach `axes`.
std::vector<std::int64_t> spread(const OperatorCall& call,
                                 std::vector<std::int64_t> integers,
                                 const Axes& own,
                                 const Axes& axes) {
  const Value value = call.known_result({.base = std::move(integers)}, own);
  return expanded(call, value, axes).integers->base;
}

}  // namespace

void require_no_sample_numbers(const OperatorCall& call) {
  for (std::size_t i = 0; i < call.num_inputs(); ++i) {
    if (!call.has(i) || !call.tensor_or_sequence(i).counts_samples()) continue;
    if (i < 32 && (inputs_taken(call.node().op) >> i & 1u) != 0) continue;
    call.refuse(
        "input {} counts samples (Range over the batch, N): that is read where each sample picks "
        "entries of its own by it, as in x[arange(N), i]",
        i + 1);
  }
}

Value with_sample_steps(const OperatorCall& call,
                        Value result,
                        const Value& a,
                        const Value& b,
                        IntegerFunction function) {
  if (!a.counts_samples() && !b.counts_samples()) return result;
  std::vector<std::int64_t> steps;
  if (function == IntegerFunction::kMultiply) {
    const Value& number = a.counts_samples() ? a : b;
    const Value& factor = a.counts_samples() ? b : a;
    if (factor.counts_samples() || !factor.is_known() || factor.integers->depends_on_batch()) {
      call.refuse("multiplies the number of a sample with what is no known integer");
    }
    steps = spread(call, steps_of(number), number.axes, result.axes);
    const auto factors = spread(call, factor.integers->base, factor.axes, result.axes);
    for (std::size_t e = 0; e < steps.size(); ++e) {
      steps[e] = checked_product(call, steps[e], factors[e]);
    }
  } else {
    steps = spread(call, steps_of(a), a.axes, result.axes);
    const auto others = spread(call, steps_of(b), b.axes, result.axes);
    const std::int64_t sign = function == IntegerFunction::kSubtract ? -1 : 1;
    for (std::size_t e = 0; e < steps.size(); ++e) {
      steps[e] = checked_sum(call, steps[e], checked_product(call, sign, others[e]));
    }
  }
  result.sample_steps = std::make_shared<const std::vector<std::int64_t>>(std::move(steps));
  return result;
}

std::vector<std::int64_t> moved_steps(std::span<const Value> inputs,
                                      std::span<const std::int32_t> table) {
  std::vector<std::int64_t> steps;
  for (const Value& input : inputs) {
    const std::vector<std::int64_t> own = steps_of(input);
    steps.insert(steps.end(), own.begin(), own.end());
  }
  std::vector<std::int64_t> result;
  for (const std::int32_t from : table) {
    result.push_back(from < 0 ? 0 : steps[static_cast<std::size_t>(from)]);
  }
  return result;
}

bool picks_own_samples(const OperatorCall& call,
                       const Value& data,
                       int axis,
                       const Value& indices,
                       std::int64_t first,
                       std::int64_t depth) {
  const Axis& along = data.axes[static_cast<std::size_t>(axis)];
  const std::vector<std::int64_t> steps = steps_of(indices);
  bool counts = false;
  bool is_own = along.has_batch && along.before == 1;
  for (auto e = static_cast<std::size_t>(first); e < steps.size();
       e += static_cast<std::size_t>(depth)) {
    counts = counts || steps[e] != 0;
    is_own = is_own && steps[e] == along.size;
  }
  if (!counts) call.require_no_batch(data, axis, "it picks entries along");
  if (counts && !is_own) {
    call.refuse(
        "its indices grow with the number of the sample, and do not stay within the "
        "sample's own entries of {}, axis {}",
        text(data.axes),
        axis);
  }
  return counts;
}

}  // namespace hesscope::onnx
