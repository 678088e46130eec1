// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

bool is_identity(std::span<const std::int32_t> table, std::int64_t size) {
  if (static_cast<std::int64_t>(table.size()) != size) return false;
  for (std::size_t e = 0; e < table.size(); ++e) {
    if (table[e] != static_cast<std::int32_t>(e)) return false;
  }
  return true;
}

Value moved_integers(const OperatorCall& call,
                     std::span<const Value> inputs,
                     const Movement& movement) {
  constexpr auto kLargest = static_cast<double>(detail::kLargestExactInteger);
  if (!(std::abs(movement.fill) <= kLargest) || movement.fill != std::trunc(movement.fill)) {
    call.refuse("fills known integers with {}, which is none", movement.fill);
  }
  const auto fill = static_cast<std::int64_t>(movement.fill);
  std::vector<std::int64_t> base;
  std::vector<std::int64_t> slopes;
  for (const Value& input : inputs) {
    for (std::size_t e = 0; e < input.integers->base.size(); ++e) {
      base.push_back(input.integers->base[e]);
      slopes.push_back(input.integers->slope(e));
    }
  }
  Integers result;
  for (const std::int32_t from : movement.table) {
    result.base.push_back(from < 0 ? fill : base[static_cast<std::size_t>(from)]);
    result.per_sample.push_back(from < 0 ? 0 : slopes[static_cast<std::size_t>(from)]);
  }
  return call.known_result(std::move(result), movement.axes, inputs.front().kind);
}

// Concatenates by pairs of pairs, so that the number of copies of an entry is logarithmic in the
// number of inputs.
Var joined(std::span<const Value> inputs) {
  if (inputs.size() == 1) return *inputs.front().var;
  const Var a = joined(inputs.first(inputs.size() / 2));
  const Var b = joined(inputs.subspan(inputs.size() / 2));
  std::vector<std::int32_t> all(
      static_cast<std::size_t>(a.rows() * a.cols() + b.rows() * b.cols()));
  std::iota(all.begin(), all.end(), 0);
  return gather(a, b, all, static_cast<Eigen::Index>(all.size()), 1);
}

Eigen::Index last_extent(const Axes& axes) { return axes.empty() ? 1 : axes.back().size; }

Var gathered(std::span<const Value> inputs, const Movement& movement, std::int64_t size) {
  const Eigen::Index cols = last_extent(movement.axes);
  const Eigen::Index rows = size / cols;
  if (inputs.size() == 2 && movement.fill == 0) {
    return gather(*inputs[0].var, *inputs[1].var, movement.table, rows, cols);
  }
  const Var source = joined(inputs);
  const bool has_gaps = std::ranges::find(movement.table, -1) != movement.table.end();
  if (!has_gaps || movement.fill == 0) return gather(source, movement.table, rows, cols);
  const auto end = static_cast<std::int32_t>(source.rows() * source.cols());
  std::vector<std::int32_t> table = movement.table;
  std::ranges::replace(table, -1, end);
  const Var fill = source.graph().constant(std::span(&movement.fill, 1), 1, 1);
  return gather(source, fill, table, rows, cols);
}

}  // namespace

namespace {

Value moved_numbers(const OperatorCall& call, std::span<const Value> inputs, Movement movement) {
  if (movement.table.empty()) {
    return call.known_result({}, std::move(movement.axes), inputs.front().kind);
  }
  const bool is_real = inputs.front().kind == ElementKind::kReal;  // known only if it is empty
  if (!is_real && std::ranges::all_of(inputs, &Value::is_known)) {
    return moved_integers(call, inputs, movement);
  }
  const std::int64_t size = call.checked_size(movement.axes);
  std::vector<Value> reals;
  for (const Value& input : inputs) reals.push_back(call.real(input));
  const ElementKind kind = inputs.front().kind;
  if (reals.size() == 1 && is_identity(movement.table, reals.front().size())) {
    return with_axes(call, reals.front(), std::move(movement.axes));
  }
  return call.result(gathered(reals, movement, size), std::move(movement.axes), kind);
}

}  // namespace

Value moved(const OperatorCall& call, std::span<const Value> inputs, Movement movement) {
  auto numbers = moved_sample_numbers(call, inputs, movement.table);
  Value result = moved_numbers(call, inputs, std::move(movement));
  result.sample_numbers = std::move(numbers);
  return result;
}

Value moved(const OperatorCall& call, const Value& input, Movement movement) {
  return moved(call, std::span(&input, 1), std::move(movement));
}

Value with_axes(const OperatorCall& call, const Value& value, Axes axes) {
  Value same = value;
  same.axes = std::move(axes);
  call.require_rank(same.axes.size());
  if (!same.is_known()) call.checked_size(same.axes);
  return same;
}

std::vector<std::int32_t> table_of(
    const OperatorCall& call,
    const Axes& axes,
    const std::function<std::int64_t(std::span<const std::int64_t> position)>& source) {
  std::int64_t size = 1;
  if (std::ranges::all_of(axes, [](const Axis& axis) { return axis.size > 0; })) {
    size = call.checked_size(axes);
  } else {
    size = 0;
  }
  call.count_moves(size);
  std::vector<std::int64_t> position(axes.size());
  std::vector<std::int32_t> table(static_cast<std::size_t>(size));
  for (std::int32_t& entry : table) {
    entry = static_cast<std::int32_t>(source(position));
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (++position[i] < axes[i].size) break;
      position[i] = 0;
    }
  }
  return table;
}

std::vector<std::int64_t> strides_of(const Axes& axes) {
  std::vector<std::int64_t> strides(axes.size(), 1);
  for (std::size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * axes[i].size;
  return strides;
}

Value transposed(const OperatorCall& call, const Value& value, const std::vector<int>& order) {
  Axes axes;
  std::vector<std::int64_t> strides;
  const std::vector<std::int64_t> from = strides_of(value.axes);
  for (const int axis : order) {
    axes.push_back(value.axes[static_cast<std::size_t>(axis)]);
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  }
  if (std::ranges::is_sorted(order)) return value;
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto position) {
    return std::inner_product(position.begin(), position.end(), strides.begin(), std::int64_t{0});
  });
  return moved(call, value, {.axes = std::move(axes), .table = std::move(table)});
}

std::vector<int> order_with_last(int rank, std::span<const int> last) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) {
    if (std::ranges::find(last, i) == last.end()) order.push_back(i);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

std::vector<int> inverse_order(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  return inverse;
}

Axes broadcast_axes(const OperatorCall& call, const Axes& a, const Axes& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  const auto aligned = [&](const Axes& axes, std::size_t i) {
    return i < rank - axes.size() ? Axis{} : axes[i - (rank - axes.size())];
  };
  Axes result;
  for (std::size_t i = 0; i < rank; ++i) {
    const Axis x = aligned(a, i);
    const Axis y = aligned(b, i);
    const bool x_is_one = x.size == 1 && !x.has_batch;
    const bool y_is_one = y.size == 1 && !y.has_batch;
    if (!(x == y || x_is_one || y_is_one)) {
      if (x.has_batch || y.has_batch) {
        call.refuse(
            "shapes {} and {} let samples meet other things than themselves: the batch (N) "
            "stands where the other has none",
            text(a),
            text(b));
      }
      call.refuse("shapes {} and {} do not fit", text(a), text(b));
    }
    result.push_back(x_is_one ? y : x);
  }
  if (std::ranges::count_if(result, &Axis::has_batch) > 1) {
    call.refuse(
        "shapes {} and {} let each sample meet all others of the batch (N)", text(a), text(b));
  }
  return result;
}

Value expanded(const OperatorCall& call, const Value& value, const Axes& axes) {
  if (value.size() == size_of(axes)) return with_axes(call, value, axes);
  std::vector<std::int64_t> strides(axes.size(), 0);
  const std::vector<std::int64_t> from = strides_of(value.axes);
  const std::size_t missing = axes.size() - value.axes.size();
  for (std::size_t i = 0; i < value.axes.size(); ++i) {
    if (value.axes[i].size > 1) strides[missing + i] = from[i];
  }
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto position) {
    return std::inner_product(position.begin(), position.end(), strides.begin(), std::int64_t{0});
  });
  return moved(call, value, {.axes = axes, .table = std::move(table)});
}

Var matrix(const Value& value, std::int64_t rows, std::int64_t cols) {
  return reshape(*value.var, rows, cols);
}

namespace {

// Whether the tensor, aligned to `axes`, has length one in all axes of [begin, end), or the
// result's length in all of them.
struct Extent {
  bool is_one = true;
  bool is_full = true;
};

Extent extent_of(const Axes& tensor, const Axes& axes, std::size_t begin, std::size_t end) {
  Extent extent;
  const std::size_t missing = axes.size() - tensor.size();
  for (std::size_t i = begin; i < end; ++i) {
    const std::int64_t size = i < missing ? 1 : tensor[i - missing].size;
    if (size != 1) extent.is_one = false;
    if (size != axes[i].size) extent.is_full = false;
  }
  return extent;
}

}  // namespace

Operands elementwise_operands(const OperatorCall& call,
                              const Value& a,
                              const Value& b,
                              const Axes& axes) {
  call.checked_size(axes);
  // A split of the axes such that each tensor is whole or of length one on either side.
  for (std::size_t split = 0; split <= axes.size(); ++split) {
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) (i < split ? rows : cols) *= axes[i].size;
    const auto fitted = [&](const Value& value) -> std::optional<Var> {
      const Extent front = extent_of(value.axes, axes, 0, split);
      const Extent back = extent_of(value.axes, axes, split, axes.size());
      if (!(front.is_one || front.is_full) || !(back.is_one || back.is_full)) return std::nullopt;
      return matrix(value, front.is_full ? rows : 1, back.is_full ? cols : 1);
    };
    const auto x = fitted(a);
    const auto y = x ? fitted(b) : std::nullopt;
    if (x && y) return {*x, *y};
  }
  const std::int64_t size = size_of(axes);
  return {matrix(expanded(call, a, axes), size, 1), matrix(expanded(call, b, axes), size, 1)};
}

std::vector<Range> whole_ranges(const Value& x) {
  std::vector<Range> ranges;
  for (const Axis& axis : x.axes) ranges.push_back({0, 1, axis.size});
  return ranges;
}

Value sliced(const OperatorCall& call, const Value& x, const std::vector<Range>& ranges) {
  Axes axes = x.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].has_batch) axes[i].size = ranges[i].count;
  }
  const std::vector<std::int64_t> strides = strides_of(x.axes);
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto position) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < position.size(); ++i) {
      from += (ranges[i].start + position[i] * ranges[i].step) * strides[i];
    }
    return from;
  });
  return moved(call, x, {.axes = std::move(axes), .table = std::move(table)});
}

std::vector<Value> parts_along(const OperatorCall& call,
                               const Value& value,
                               int axis,
                               std::span<const std::int64_t> lengths) {
  call.require_no_batch(value, axis, "splits");
  call.require_parts(lengths.size());
  // Subtracted one by one: the sum of the file's numbers might overflow 64 bits.
  std::int64_t left = value.axes[static_cast<std::size_t>(axis)].size;
  for (const std::int64_t part : lengths) left = part >= 0 && part <= left ? left - part : -1;
  if (left != 0) {
    call.refuse("parts of {} entries do not make up axis {} of {}",
                fmt::join(lengths, ", "),
                axis,
                text(value.axes));
  }
  std::vector<Value> parts;
  std::vector<Range> ranges = whole_ranges(value);
  Range& range = ranges[static_cast<std::size_t>(axis)];
  range.start = 0;
  for (const std::int64_t part : lengths) {
    range.count = part;
    parts.push_back(sliced(call, value, ranges));
    range.start += part;
  }
  return parts;
}

Value joined(const OperatorCall& call, std::span<const Value> parts, std::int64_t along) {
  if (parts.empty()) call.refuse("joins nothing");
  // Tensors without entries contribute nothing, wherever their batch axis is.
  const auto with_entries =
      std::ranges::find_if(parts, [](const Value& part) { return part.size() > 0; });
  const Value& first = with_entries == parts.end() ? parts.front() : *with_entries;
  const int axis = call.axis(along, first.rank());
  const auto joint = static_cast<std::size_t>(axis);
  Axes axes = first.axes;
  axes[joint].size = 0;
  std::vector<Value> inputs;
  std::vector<std::int64_t> ends;    // along the axis
  std::vector<std::int64_t> begins;  // of the inputs' entries
  std::int64_t entries = 0;
  for (const Value& part : parts) {
    if (part.size() == 0 && first.size() > 0) continue;
    Axes expected = first.axes;
    if (part.axes.size() == expected.size()) expected[joint] = part.axes[joint];
    if (part.axes != expected) {
      call.refuse("shapes {} and {} do not fit along axis {}{}",
                  text(first.axes),
                  text(part.axes),
                  axis,
                  batch_axis(part.axes) != batch_axis(first.axes)
                      ? ": the samples of the batch (N) stand at different places"
                      : "");
    }
    call.require_no_batch(part, axis, "joins along");
    axes[joint].size = checked_sum(call, axes[joint].size, part.axes[joint].size);
    if (part.size() == 0) continue;
    ends.push_back(axes[joint].size);
    begins.push_back(entries);
    entries += part.size();
    inputs.push_back(part);
  }
  if (inputs.empty()) return call.known_result({}, std::move(axes), first.kind);
  std::vector<std::vector<std::int64_t>> strides;
  for (const Value& part : inputs) strides.push_back(strides_of(part.axes));
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto position) {
    const auto k = static_cast<std::size_t>(
        std::upper_bound(ends.begin(), ends.end(), position[joint]) - ends.begin());
    std::int64_t from = begins[k];
    for (std::size_t i = 0; i < position.size(); ++i) {
      const std::int64_t shift = i == joint && k > 0 ? ends[k - 1] : 0;
      from += (position[i] - shift) * strides[k][i];
    }
    return from;
  });
  return moved(call, inputs, {.axes = std::move(axes), .table = std::move(table)});
}

Value stacked(const OperatorCall& call, std::span<const Value> parts, std::int64_t axis) {
  std::vector<Value> slices;
  for (const Value& part : parts) {
    Axes axes = part.axes;
    axes.insert(axes.begin() + call.axis(axis, part.rank() + 1), Axis{});
    slices.push_back(with_axes(call, part, std::move(axes)));
  }
  return joined(call, slices, axis);
}

Value without_axis(const OperatorCall& call, const Value& value, int axis) {
  Axes axes = value.axes;
  axes.erase(axes.begin() + axis);
  return with_axes(call, value, std::move(axes));
}

Value entry_of_axis(const OperatorCall& call, const Value& value, int axis, std::int64_t index) {
  call.require_no_batch(value, axis, "takes single entries of");
  std::vector<Range> ranges = whole_ranges(value);
  ranges[static_cast<std::size_t>(axis)] = {index, 1, 1};
  return without_axis(call, sliced(call, value, ranges), axis);
}

}  // namespace hesscope::onnx
