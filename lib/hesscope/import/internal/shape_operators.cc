// SPDX-License-Identifier: BSD-3-Clause
//
// Shapes, and operations that change them without computing; these track the batch.
#include <algorithm>
#include <array>
#include <numeric>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/import/importer.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/regroup.h>

namespace hesscope::onnx {
namespace {

Axes list_of(std::size_t size) { return {{.size = static_cast<std::int64_t>(size)}}; }

// --- constants ---

Value real_constant(const OperatorCall& call, const std::vector<double>& entries, Axes axes) {
  if (entries.empty()) call.refuse("holds no numbers");
  return call.result(call.constant(entries), std::move(axes));
}

Values lower_constant(const OperatorCall& call) {
  if (call.node().attributes.size() != 1) call.refuse("must have one value");
  const auto& value = call.node().attributes.front().value;
  if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value)) {
    if ((*tensor)->kind == ElementKind::kOther) {
      call.refuse("holds elements of type {}, which are not computed with",
                  type_name((*tensor)->onnx_type));
    }
    Axes axes = plain_axes((*tensor)->shape);
    if ((*tensor)->kind == ElementKind::kReal && !(*tensor)->reals.empty()) {
      return {real_constant(call, (*tensor)->reals, std::move(axes))};
    }
    return {call.known_result({.base = (*tensor)->integers}, std::move(axes), (*tensor)->kind)};
  }
  if (const auto* number = std::get_if<double>(&value)) return {real_constant(call, {*number}, {})};
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return {real_constant(call, *list, list_of(list->size()))};
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return {call.known_result({.base = {*number}}, {})};
  }
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    return {call.known_result({.base = *list}, list_of(list->size()))};
  }
  call.refuse("holds a value of a type that is not computed with");
}

// --- shapes as numbers ---

Values lower_shape(const OperatorCall& call) {
  const Axes& axes = call.input(0).axes;
  const auto rank = static_cast<std::int64_t>(axes.size());
  const auto bound = [&](const char* name, std::int64_t fallback) {
    const std::int64_t value = call.integer(name, fallback);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  Integers shape;
  for (std::int64_t i = bound("start", 0); i < bound("end", rank); ++i) {
    const Axis& axis = axes[static_cast<std::size_t>(i)];
    shape.base.push_back(axis.has_batch ? 0 : axis.size);
    shape.per_sample.push_back(axis.has_batch ? axis.size : 0);
  }
  const std::size_t size = shape.base.size();
  return {call.known_result(std::move(shape), list_of(size))};
}

Values lower_size(const OperatorCall& call) {
  const Value& x = call.input(0);
  const bool has_batch = batch_axis(x.axes) >= 0;
  return {call.known_result(
      {.base = {has_batch ? 0 : x.size()}, .per_sample = {has_batch ? x.size() : 0}}, {})};
}

// --- the same entries with other axes ---

Values lower_reshape(const OperatorCall& call) {
  const Value& x = call.input(0);
  if (call.has_attribute("shape")) {
    return {reshaped(call, x, {.base = call.integers("shape")}, false)};
  }
  const Value& shape = call.input(1);
  if (!shape.is_known()) call.refuse("its shape depends on data or parameters");
  call.require_common(1);
  return {reshaped(call, x, *shape.integers, call.integer("allowzero", 0) != 0)};
}

Values lower_flatten(const OperatorCall& call) {
  const Value& x = call.input(0);
  const std::int64_t given = call.integer("axis", 1);
  const int axis = given == x.rank() ? x.rank() : call.axis(given, x.rank() == 0 ? 1 : x.rank());
  Integers shape{.base = {1, 1}, .per_sample = {0, 0}};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto begin = x.axes.begin() + (side == 0 ? 0 : axis);
    const auto end = side == 0 ? x.axes.begin() + axis : x.axes.end();
    const std::int64_t size = size_of(Axes(begin, end));
    const bool has_batch = std::any_of(begin, end, [](const Axis& a) { return a.has_batch; });
    (has_batch ? shape.per_sample : shape.base)[side] = size;
    if (has_batch) shape.base[side] = 0;
  }
  return {reshaped(call, x, shape, true)};
}

Values lower_squeeze(const OperatorCall& call) {
  const Value& x = call.input(0);
  const auto list = call.list("axes", 1);
  std::vector<int> gone;
  if (list) {
    gone = call.axes(*list, x.rank());
  } else {
    for (int i = 0; i < x.rank(); ++i) {
      const Axis& axis = x.axes[static_cast<std::size_t>(i)];
      if (axis.size == 1 && !axis.has_batch) gone.push_back(i);
    }
  }
  Axes axes;
  for (int i = 0; i < x.rank(); ++i) {
    const Axis& axis = x.axes[static_cast<std::size_t>(i)];
    if (std::ranges::find(gone, i) == gone.end()) {
      axes.push_back(axis);
      continue;
    }
    call.require_no_batch(x, i, "takes away");
    if (axis.size != 1) call.refuse("axis {} of {} is not of length 1", i, text(x.axes));
  }
  return {with_axes(call, x, std::move(axes))};
}

Values lower_unsqueeze(const OperatorCall& call) {
  const Value& x = call.input(0);
  const auto list = call.list("axes", 1);
  if (!list) call.refuse("needs its axes");
  const int rank = x.rank() + static_cast<int>(list->size());
  const std::vector<int> fresh = call.axes(*list, rank);
  Axes axes;
  auto next = x.axes.begin();
  for (int i = 0; i < rank; ++i) {
    axes.push_back(std::ranges::find(fresh, i) != fresh.end() ? Axis{} : *next++);
  }
  return {with_axes(call, x, std::move(axes))};
}

Values lower_identity(const OperatorCall& call) { return {call.tensor_or_sequence(0)}; }

// --- entries in another order, or some of them ---

Values lower_transpose(const OperatorCall& call) {
  const Value& x = call.input(0);
  std::vector<int> order = call.axes(call.integers("perm"), x.rank());
  if (order.empty()) {
    for (int i = x.rank(); i-- > 0;) order.push_back(i);
  }
  if (static_cast<int>(order.size()) != x.rank()) {
    call.refuse("permutes {} axes of a tensor of rank {}", order.size(), x.rank());
  }
  return {transposed(call, x, order)};
}

Range range_of(const OperatorCall& call,
               std::int64_t size,
               std::int64_t start,
               std::int64_t end,
               std::int64_t step) {
  if (step == 0) call.refuse("has a step of 0");
  if (size == 0) return {0, step, 0};
  const auto from_front = [&](std::int64_t place) { return place < 0 ? place + size : place; };
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? size : size - 1;
  start = std::clamp(start < -size ? lowest : from_front(start), std::int64_t{0}, highest);
  end = std::clamp(end < -size ? lowest : from_front(end), lowest, size);
  const std::int64_t length = step > 0 ? end - start : start - end;
  const std::int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
  return {start, step, length <= 0 ? 0 : (length - 1) / stride + 1};
}

// Whether entry e, an end, is N times the length of the axis, or beyond all batches.
bool is_whole_batch(const Axis& axis, const Integers& ends, std::size_t e) {
  constexpr std::int64_t kBeyond = 2147483647;  // what exporters write for "to the end"
  return ends.slope(e) == axis.size ? ends.base[e] >= 0
                                    : ends.slope(e) == 0 && ends.base[e] >= kBeyond;
}

Values lower_slice(const OperatorCall& call) {
  const Value& x = call.input(0);
  const bool is_attribute = call.has_attribute("starts");
  const std::vector<std::int64_t> starts = is_attribute ? call.integers("starts") : call.known(1);
  const Integers ends = [&]() -> Integers {
    if (is_attribute) return {.base = call.integers("ends")};
    if (!call.input(2).is_known()) call.refuse("its ends depend on data or parameters");
    call.require_common(2);
    return *call.input(2).integers;
  }();
  std::vector<std::int64_t> list(starts.size());
  std::iota(list.begin(), list.end(), 0);
  list = call.list("axes", 3).value_or(list);
  const std::vector<int> axes = call.axes(list, x.rank());
  const std::vector<std::int64_t> steps =
      call.has(4) ? call.known(4) : std::vector<std::int64_t>(starts.size(), 1);
  if (ends.base.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    call.refuse("has {} starts, {} ends, {} axes and {} steps",
                starts.size(),
                ends.base.size(),
                axes.size(),
                steps.size());
  }
  std::vector<Range> ranges = whole_ranges(x);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto i = static_cast<std::size_t>(axes[k]);
    if (x.axes[i].has_batch) {
      if (starts[k] == 0 && steps[k] == 1 && is_whole_batch(x.axes[i], ends, k)) continue;
      call.require_no_batch(x, axes[k], "takes a part of");
    }
    if (ends.slope(k) != 0) call.refuse("its end on axis {} is the number of samples", axes[k]);
    ranges[i] = range_of(call, x.axes[i].size, starts[k], ends.base[k], steps[k]);
  }
  return {sliced(call, x, ranges)};
}

Values lower_split(const OperatorCall& call) {
  const Value& x = call.input(0);
  const int axis = call.axis(call.integer("axis", 0), x.rank());
  call.require_no_batch(x, axis, "splits");
  const std::int64_t size = x.axes[static_cast<std::size_t>(axis)].size;
  std::vector<std::int64_t> sizes;
  if (const auto given = call.list("split", 1)) {
    sizes = *given;
  } else {
    const auto parts = static_cast<std::int64_t>(call.num_outputs());
    const std::int64_t each = detail::ceil_div(size, parts);
    for (std::int64_t done = 0; done < size; done += each)
      sizes.push_back(std::min(each, size - done));
    if (static_cast<std::int64_t>(sizes.size()) != parts) {
      call.refuse("the {} entries of axis {} of {} do not fill {} parts of {}",
                  size,
                  axis,
                  text(x.axes),
                  parts,
                  each);
    }
  }
  return parts_along(call, x, axis, sizes);
}

Values lower_concat(const OperatorCall& call) {
  Values parts;
  for (std::size_t k = 0; k < call.num_inputs(); ++k) parts.push_back(call.input(k));
  return {joined(call, parts, call.integer("axis", 1))};
}

// A constant that is the same for each sample of the batch with which it was exported, reduced to
// one sample; PyTorch writes initial states of packed sequences in this way.
Value of_one_sample(const OperatorCall& call, const Value& x, const Axes& target) {
  if (x.is_known() || batch_axis(x.axes) >= 0 || x.axes.size() != target.size()) return x;
  const int batch = batch_axis(target);
  const auto i = static_cast<std::size_t>(std::max(batch, 0));
  if (batch < 0 || target[i] != kBatchAxis || x.axes[i].size == 1) return x;
  const auto entries = call.graph().constant_value(*x.var);
  if (entries.empty()) return x;
  Axes axes = x.axes;
  axes[i].size = 1;
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto at) {
    return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
  });
  for (const std::int32_t first : table) {
    for (std::int64_t k = 1; k < x.axes[i].size; ++k) {
      const auto e = static_cast<std::size_t>(first + k * strides[i]);
      if (entries[e] != entries[static_cast<std::size_t>(first)]) return x;
    }
  }
  return moved(call, x, {.axes = std::move(axes), .table = std::move(table)});
}

Values lower_expand(const OperatorCall& call) {
  if (!call.input(1).is_known()) call.refuse("its shape depends on data or parameters");
  call.require_common(1);
  Axes target = axes_of(call, *call.input(1).integers);
  const Value x = of_one_sample(call, call.input(0), target);
  // A multiple of N that the tensor already has stands for the tensor's own axis.
  const std::size_t rank = std::max(target.size(), x.axes.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t back = target.size() - i;
    if (back > x.axes.size() || rank < back) continue;
    const Axis& own = x.axes[x.axes.size() - back];
    if (own.has_batch && target[i].has_batch && own.size == target[i].size) target[i] = own;
  }
  const Axes axes = broadcast_axes(call, x.axes, target);
  return {expanded(call, x, axes)};
}

}  // namespace

std::span<const Operator> shape_operators() {
  static constexpr auto kShapeOperators = std::to_array<Operator>({
      {"Concat", lower_concat},
      {"Constant", lower_constant, kNoSlope},
      {"Expand", lower_expand, kSlopeOfFirst, 8},
      {"Flatten", lower_flatten},
      {"Identity", lower_identity},
      {"Reshape", lower_reshape, kSlopeOfFirst},
      {"Shape", lower_shape, kNoSlope},
      {"Size", lower_size, kNoSlope},
      {"Slice", lower_slice, kSlopeOfFirst},
      {"Split", lower_split, kSlopeOfFirst},
      {"Squeeze", lower_squeeze, kSlopeOfFirst},
      {"Transpose", lower_transpose},
      {"Unsqueeze", lower_unsqueeze, kSlopeOfFirst},
  });
  return kShapeOperators;
}

}  // namespace hesscope::onnx
