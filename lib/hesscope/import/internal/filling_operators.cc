// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors generated from numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// For start, start + step, ... up to start + s N: N times s / step entries.
std::optional<Value> range_over_samples(const OperatorCall& call) {
  const auto start = call.input(0).single_integer();
  const auto step = call.input(2).single_integer();
  const Value& limit = call.input(1);
  const bool is_one =
      limit.is_known() && limit.integers->base.size() == 1 && batch_axis(limit.axes) < 0;
  if (!is_one || !start || !step || limit.integers->base.front() != *start) return std::nullopt;
  const std::int64_t of_sample = limit.integers->slope(0);
  if (of_sample < 1 || *step < 1 || of_sample % *step != 0) return std::nullopt;
  const Axes axes = {{.size = of_sample / *step, .has_batch = true}};
  const std::int64_t count = call.checked_size(axes);
  Integers entries;
  for (std::int64_t i = 0; i < count; ++i) {
    entries.base.push_back(checked_sum(call, *start, i * *step));
  }
  Value numbers = call.known_result(std::move(entries), axes);
  numbers.sample_numbers = std::make_shared<const SampleNumbers>(
      SampleNumbers{.steps = std::vector(static_cast<std::size_t>(count), of_sample)});
  return numbers;
}

Values lower_range(const OperatorCall& call) {
  const ElementKind kind = call.input(0).kind;
  if (const auto numbers = range_over_samples(call)) return {*numbers};
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::vector<double> one = call.known_reals(i);
    if (one.size() != 1) call.refuse("input {} must be one number", i + 1);
    numbers[i] = one.front();
  }
  const auto [start, limit, step] = numbers;
  const double count = std::max(std::ceil((limit - start) / step), 0.0);  // NaN is kept
  constexpr double kMaxCount = 1e7;
  constexpr double kExact = 9e15;  // doubles represent whole numbers below
  const bool is_exact =
      kind == ElementKind::kReal ||
      (std::abs(start) <= kExact && std::abs(limit) <= kExact && std::abs(step) <= kExact);
  if (!is_exact || !(step != 0) || !(count <= kMaxCount)) {
    call.refuse("from {} to {} by {} is no range of at most {}", start, limit, step, kMaxCount);
  }
  const auto size = static_cast<std::int64_t>(count);
  if (kind != ElementKind::kReal) {
    std::vector<std::int64_t> entries;
    for (std::int64_t i = 0; i < size; ++i) {
      entries.push_back(static_cast<std::int64_t>(start) + i * static_cast<std::int64_t>(step));
    }
    return {call.known_result({.base = std::move(entries)}, plain_axes({size}))};
  }
  call.checked_size(plain_axes({size}));
  std::vector<double> entries;
  for (std::int64_t i = 0; i < size; ++i) entries.push_back(start + static_cast<double>(i) * step);
  return {call.result(call.constant(entries), plain_axes({size}))};
}

// The axes given by a list of sizes; b N stands for an axis with the batch.
Axes axes_of_sizes(const OperatorCall& call, const Value& sizes) {
  if (!sizes.is_known()) call.refuse("its shape depends on data");
  call.require_common(0);
  Axes axes;
  for (std::size_t i = 0; i < sizes.integers->base.size(); ++i) {
    const std::int64_t base = sizes.integers->base[i];
    const std::int64_t slope = sizes.integers->slope(i);
    if (base < 0 || slope < 0 || (slope > 0 && base != 0)) {
      call.refuse("{} + {} N is no size of an axis", base, slope);
    }
    axes.push_back(slope > 0 ? Axis{.size = slope, .has_batch = true} : Axis{.size = base});
  }
  if (std::ranges::count_if(axes, &Axis::has_batch) > 1) {
    call.refuse("shape {} has the batch (N) twice", text(axes));
  }
  return axes;
}

Values lower_constant_of_shape(const OperatorCall& call) {
  const Axes axes = axes_of_sizes(call, call.input(0));
  const Attribute* attribute = call.node().find("value");
  Tensor value;
  value.reals = {0.0};
  if (attribute != nullptr) {
    const auto* stored = std::get_if<std::shared_ptr<const Tensor>>(&attribute->value);
    if (stored == nullptr || (*stored)->size() != 1 || (*stored)->kind == ElementKind::kOther) {
      call.refuse("attribute 'value' must be a tensor of one number");
    }
    value = **stored;
  }
  const bool is_empty = std::ranges::any_of(axes, [](const Axis& axis) { return axis.size == 0; });
  if (is_empty) return {call.known_result({}, axes, value.kind)};
  const auto size = static_cast<std::size_t>(call.checked_size(axes));
  if (value.kind == ElementKind::kReal) {
    const std::vector<double> entries(size, value.reals.front());
    return {call.result(call.constant(entries), axes)};
  }
  return {call.known_result(
      {.base = std::vector<std::int64_t>(size, value.integers.front())}, axes, value.kind)};
}

Values lower_eye_like(const OperatorCall& call) {
  const Value& like = call.input(0);
  if (like.rank() != 2) call.refuse("needs a matrix, got {}", text(like.axes));
  for (int i = 0; i < 2; ++i) call.require_no_batch(like, i, "it has a diagonal along");
  const std::int64_t diagonal = call.integer("k", 0);
  const ElementKind kind =
      call.has_attribute("dtype") ? element_kind(call.integer("dtype", 1)) : like.kind;
  if (kind == ElementKind::kOther) {
    call.refuse("dtype {} is not read", type_name(call.integer("dtype", 1)));
  }
  const std::vector<std::int32_t> ones =
      table_of(call, like.axes, [&](auto at) { return at[1] - at[0] == diagonal ? 1 : 0; });
  if (kind != ElementKind::kReal) {
    return {call.known_result({.base = {ones.begin(), ones.end()}}, like.axes, kind)};
  }
  return {call.result(call.constant(std::vector<double>(ones.begin(), ones.end())), like.axes)};
}

constexpr std::array kFillingOperators = {
    Operator{"ConstantOfShape", lower_constant_of_shape, kNoSlope, 9},
    Operator{"EyeLike", lower_eye_like, kNoSlope, 9},
    Operator{"Range", lower_range, kNoSlope, 11},
};

}  // namespace

std::span<const Operator> filling_operators() { return kFillingOperators; }

}  // namespace hesscope::onnx
