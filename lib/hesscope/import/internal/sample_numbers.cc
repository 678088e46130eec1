// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

struct Taker {
  std::string_view name;
  unsigned inputs;  // bit i: input i may number samples
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
    Taker{"ScatterND", kSecond},
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
  if (value.counts_samples()) return value.sample_numbers->steps;
  return std::vector<std::int64_t>(static_cast<std::size_t>(value.size()));
}

bool is_times_batch(const Value& value) {
  return value.counts_samples() && value.sample_numbers->is_times_batch;
}

bool are_all_zero(const std::vector<std::int64_t>& numbers) {
  return std::ranges::all_of(numbers, [](std::int64_t number) { return number == 0; });
}

// Whether the value is nothing but the number of the sample.
bool is_number_alone(const Value& value) {
  return value.counts_samples() && value.is_known() && !value.integers->depends_on_batch() &&
         are_all_zero(value.integers->base);
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

Value with_sample_numbers(const OperatorCall& call,
                          Value result,
                          const Value& a,
                          const Value& b,
                          IntegerFunction function) {
  if (!a.counts_samples() && !b.counts_samples()) return result;
  SampleNumbers numbers{.steps = {}, .is_times_batch = is_times_batch(a) || is_times_batch(b)};
  std::vector<std::int64_t>& steps = numbers.steps;
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
    const auto fits = [](const Value& x) { return is_times_batch(x) || is_number_alone(x); };
    if (numbers.is_times_batch && !(fits(a) && fits(b))) {
      call.refuse(
          "one input is multiplied by the number of samples (N), the other is neither that nor a "
          "Range over the batch");
    }
    steps = spread(call, steps_of(a), a.axes, result.axes);
    const auto others = spread(call, steps_of(b), b.axes, result.axes);
    const std::int64_t sign = function == IntegerFunction::kSubtract ? -1 : 1;
    for (std::size_t e = 0; e < steps.size(); ++e) {
      steps[e] = checked_sum(call, steps[e], checked_product(call, sign, others[e]));
    }
  }
  result.sample_numbers = std::make_shared<const SampleNumbers>(std::move(numbers));
  return result;
}

std::optional<Value> times_batch(const OperatorCall& call, const Value& a, const Value& b) {
  const Value& factor = a.is_known() ? a : b;
  const Value& told = a.is_known() ? b : a;
  const bool is_multiple = factor.is_known() && factor.integers->depends_on_batch() &&
                           are_all_zero(factor.integers->base);
  if (!is_multiple || told.kind != ElementKind::kInteger || told.is_known() ||
      factor.counts_samples() || told.counts_samples()) {
    return std::nullopt;
  }
  Value product =
      times(call, told, call.known_result({.base = factor.integers->per_sample}, factor.axes));
  product.kind = ElementKind::kInteger;
  product.sample_numbers = std::make_shared<const SampleNumbers>(
      SampleNumbers{.steps = steps_of(product), .is_times_batch = true});
  return product;
}

std::shared_ptr<const SampleNumbers> moved_sample_numbers(const OperatorCall& call,
                                                          std::span<const Value> inputs,
                                                          std::span<const std::int32_t> table) {
  if (std::ranges::none_of(inputs, &Value::counts_samples)) return nullptr;
  SampleNumbers moved{.steps = {}, .is_times_batch = std::ranges::any_of(inputs, is_times_batch)};
  if (moved.is_times_batch && !std::ranges::all_of(inputs, is_times_batch)) {
    call.refuse("joins what is multiplied by the number of samples (N) with what is not");
  }
  std::vector<std::int64_t> steps;
  for (const Value& input : inputs) {
    const std::vector<std::int64_t> own = steps_of(input);
    steps.insert(steps.end(), own.begin(), own.end());
  }
  for (const std::int32_t from : table) {
    moved.steps.push_back(from < 0 ? 0 : steps[static_cast<std::size_t>(from)]);
  }
  return std::make_shared<const SampleNumbers>(std::move(moved));
}

Picking picking_of(const OperatorCall& call,
                   const Value& data,
                   int axis,
                   const Value& indices,
                   std::int64_t first,
                   std::int64_t depth) {
  const Axis& along = data.axes[static_cast<std::size_t>(axis)];
  const std::int64_t inner = along.size / along.before;
  const std::vector<std::int64_t> steps = steps_of(indices);
  // The data give places in front of the batch, or behind it.
  const bool is_in_time = is_times_batch(indices);
  const bool is_told = !indices.is_known();
  bool counts = is_in_time;
  bool is_own = along.has_batch && (!is_told || (is_in_time ? inner : along.before) == 1);
  for (auto e = static_cast<std::size_t>(first); e < steps.size();
       e += static_cast<std::size_t>(depth)) {
    counts = counts || steps[e] != 0;
    is_own = is_own && steps[e] == inner;
  }
  if (!counts) {
    call.require_no_batch(data, axis, "it picks entries along");
    return Picking::kAny;
  }
  if (!is_own) {
    call.refuse(
        "its indices grow with the number of the sample, and do not stay within the "
        "sample's own entries of {}, axis {}",
        text(data.axes),
        axis);
  }
  return is_in_time ? Picking::kInTime : Picking::kOwn;
}

std::int64_t own_place(const OperatorCall& call,
                       const Axis& along,
                       std::int64_t index,
                       std::int64_t per_sample) {
  const std::int64_t inner = along.size / along.before;
  if (index < 0) call.refuse("index {} is of the sample before", index);
  if (index >= inner) call.refuse("index {} is not one of {} entries", index, inner);
  if (per_sample % inner != 0) {
    call.refuse("index {} N + {} is of other samples, too", per_sample, index);
  }
  return counted_from_front(call, checked_sum(call, per_sample, index), along.size);
}

Var places_of(const Value& indices, std::int64_t size, Picking picking) {
  return picking == Picking::kOwn ? matrix(indices, indices.size(), 1)
                                  : index_column(indices, size);
}

std::int64_t place_of(const OperatorCall& call,
                      std::int64_t index,
                      const Axis& along,
                      Picking picking) {
  return picking == Picking::kOwn ? own_place(call, along, index)
                                  : counted_from_front(call, index, along.size);
}

}  // namespace hesscope::onnx
