// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that select entries, or move them, by masks, lengths and repeats.
#include <algorithm>
#include <array>
#include <numeric>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/quotients.h>

namespace hesscope::onnx {
namespace {

// x if the condition holds, else y. With a known condition it is a movement of both, so that
// entries not taken (-inf in a mask) are never multiplied.
Values lower_where(const OperatorCall& call) {
  const Value& condition = call.input(0);
  const Value& x = call.input(1);
  const Value& y = call.input(2);
  const Axes axes = broadcast_axes(call, broadcast_axes(call, condition.axes, x.axes), y.axes);
  const auto known = indices_at_hand(call, 0);
  if (!known) {
    const std::int64_t size = call.checked_size(axes);
    const auto column = [&](const Value& value) {
      return matrix(expanded(call, call.real(value), axes), size, 1);
    };
    return {call.result(select(column(condition), column(x), column(y)), axes, x.kind)};
  }
  const auto sources_of = [&](const Value& value) {
    std::vector<std::int64_t> strides(axes.size());
    const std::vector<std::int64_t> own = strides_of(value.axes);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (value.axes[i].size > 1) strides[axes.size() - own.size() + i] = own[i];
    }
    return table_of(call, axes, [&](auto at) {
      return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
    });
  };
  const std::vector<std::int32_t> flags = sources_of(condition);
  const std::vector<std::int32_t> from_x = sources_of(x);
  std::vector<std::int32_t> table = sources_of(y);
  const auto holds = [&](std::int32_t place) {
    return (*known)[static_cast<std::size_t>(place)] != 0;
  };
  const auto count = std::ranges::count_if(flags, holds);
  if (count == 0) return {moved(call, y, {.axes = axes, .table = std::move(table)})};
  if (count == std::ssize(flags)) return {moved(call, x, {.axes = axes, .table = from_x})};
  for (std::size_t e = 0; e < table.size(); ++e) {
    table[e] = holds(flags[e]) ? from_x[e] : table[e] + static_cast<std::int32_t>(x.size());
  }
  const std::array both = {x, y};
  return {moved(call, both, {.axes = axes, .table = std::move(table)})};
}

// Inserts an axis at `axis` whose entry is values[1] at the index and values[0] elsewhere.
Values lower_one_hot(const OperatorCall& call) {
  const Value& indices = call.input(0);
  const Value& values = call.input(2);
  const std::vector<double> depths = call.known_reals(1);
  constexpr double kMaxDepth = 1e7;
  if (depths.size() != 1 || !(depths.front() >= 1 && depths.front() <= kMaxDepth)) {
    call.refuse("depth must be one number, at least 1 and at most {}", kMaxDepth);
  }
  if (values.axes != plain_axes({2})) call.refuse("needs 2 values, got {}", text(values.axes));
  const auto depth = static_cast<std::int64_t>(depths.front());
  const int axis = call.axis(call.integer("axis", -1), indices.rank() + 1);
  Axes axes = indices.axes;
  axes.insert(axes.begin() + axis, Axis{.size = depth});
  call.checked_size(axes);
  const std::int64_t inner = extent_of(indices.axes, axis, indices.rank());
  const Axes blocks = plain_axes({extent_of(indices.axes, 0, axis), depth, inner});
  if (const auto known = indices_at_hand(call, 0)) {
    std::vector<std::int32_t> table = table_of(call, blocks, [&](auto at) {
      const std::int64_t index = (*known)[static_cast<std::size_t>(at[0] * inner + at[2])];
      return (index < 0 ? index + depth : index) == at[1] ? 1 : 0;
    });
    return {moved(call, values, {.axes = std::move(axes), .table = std::move(table)})};
  }
  Value whole = indices;
  if (indices.kind == ElementKind::kReal) {  // truncated towards 0
    const Var x = *indices.var;
    whole.var = whole_part(x);
  }
  const Var column = index_column(whole, depth);
  const std::vector<std::int32_t> places =
      table_of(call, blocks, [&](auto at) { return at[0] * inner + at[2]; });
  const std::vector<std::int32_t> classes = table_of(call, blocks, [](auto at) { return at[1]; });
  const auto size = static_cast<Eigen::Index>(places.size());
  const Var wanted = call.constant(std::vector<double>(classes.begin(), classes.end()));
  const Var hits = equal(gather(column, places, size, 1), wanted);
  return {call.result(entries_at(call.real(values), hits), std::move(axes), values.kind)};
}

// If the number of samples N is a known factor of the repeats of an axis without the batch, that
// axis gets the batch.
Values lower_tile(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& repeats = call.input(1);
  if (!repeats.is_known() || repeats.size() != data.rank()) {
    call.refuse("needs a known number of repeats for each axis of {}, got {}",
                text(data.axes),
                text(repeats.axes));
  }
  call.require_common(1);
  Axes axes = data.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t times = repeats.integers->base[i];
    const std::int64_t slope = repeats.integers->slope(i);
    Axis& axis = axes[i];
    const bool is_of_no_sample = times == 0 && slope == 0 && axis.has_batch;
    if (times < 0 || is_of_no_sample ||
        (slope != 0 && (times != 0 || slope < 0 || axis.has_batch))) {
      call.refuse("cannot repeat axis {} of {} so often", i, text(data.axes));
    }
    if (slope != 0) {
      axis = {.size = checked_product(call, axis.size, slope), .has_batch = true};
    } else {
      axis.size = checked_product(call, axis.size, times);
      if (axis.has_batch) axis.before = checked_product(call, axis.before, times);
    }
  }
  require_one_batch(call, axes, data, data);
  const std::vector<std::int64_t> strides = strides_of(data.axes);
  std::vector<std::int32_t> table = table_of(call, axes, [&](auto at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] % data.axes[i].size * strides[i];
    return from;
  });
  return {moved(call, data, {.axes = std::move(axes), .table = std::move(table)})};
}

// The part of each matrix on and above the k-th diagonal, or on and below it.
Values lower_trilu(const OperatorCall& call) {
  const Value& data = call.input(0);
  const int rank = data.rank();
  if (rank < 2) call.refuse("needs matrices, got {}", text(data.axes));
  call.require_no_batch(data, rank - 1, "it takes a triangle of");
  call.require_no_batch(data, rank - 2, "it takes a triangle of");
  const std::vector<std::int64_t> diagonal =
      call.has(1) ? call.known(1) : std::vector<std::int64_t>{0};
  if (diagonal.size() != 1) call.refuse("k must be one number");
  const bool is_upper = call.integer("upper", 1) != 0;
  const std::int64_t rows = data.axes[static_cast<std::size_t>(rank - 2)].size;
  const std::int64_t cols = data.axes.back().size;
  std::vector<std::int32_t> table =
      table_of(call, plain_axes({extent_of(data.axes, 0, rank - 2), rows, cols}), [&](auto at) {
        const std::int64_t place = at[2] - at[1];
        const bool stays = is_upper ? place >= diagonal.front() : place <= diagonal.front();
        return stays ? (at[0] * rows + at[1]) * cols + at[2] : -1;
      });
  return {moved(call, data, {.axes = data.axes, .table = std::move(table)})};
}

// Running sums of known integers, from the front of the axis or from its end.
Value running_sum(
    const OperatorCall& call, const Value& data, int axis, bool excludes, bool turns) {
  const std::int64_t size = extent_of(data.axes, axis, axis + 1);
  const std::int64_t inner = extent_of(data.axes, axis + 1, data.rank());
  Integers sums = {.base = std::vector<std::int64_t>(data.integers->base.size()),
                   .per_sample = std::vector<std::int64_t>(data.integers->base.size())};
  for (std::int64_t first = 0; first < extent_of(data.axes, 0, axis) * inner; ++first) {
    std::int64_t base = 0;
    std::int64_t slope = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t place = turns ? size - 1 - k : k;
      const auto e =
          static_cast<std::size_t>((first / inner * size + place) * inner + first % inner);
      if (excludes) sums.base[e] = base, sums.per_sample[e] = slope;
      base = checked_sum(call, base, data.integers->base[e]);
      slope = checked_sum(call, slope, data.integers->slope(e));
      if (!excludes) sums.base[e] = base, sums.per_sample[e] = slope;
    }
  }
  return call.known_result(std::move(sums), data.axes, data.kind);
}

// A product with a triangle of ones.
Values lower_cumulative_sum(const OperatorCall& call) {
  const Value& data = call.input(0);
  const std::vector<std::int64_t> axes = call.known(1);
  if (axes.size() != 1) call.refuse("the axis must be one number");
  const int axis = call.axis(axes.front(), data.rank());
  call.require_no_batch(data, axis, "it sums along");
  const bool excludes = call.integer("exclusive", 0) != 0;
  const bool turns = call.integer("reverse", 0) != 0;
  if (data.is_known()) return {running_sum(call, data, axis, excludes, turns)};
  const std::vector<int> order = order_with_last(data.rank(), std::span(&axis, 1));
  const Value rows = transposed(call, data, order);
  const std::int64_t size = rows.axes.back().size;
  const Axes square = plain_axes({size, size});
  const std::vector<std::int32_t> ones = table_of(call, square, [&](auto at) {
    const std::int64_t ahead = turns ? at[0] - at[1] : at[1] - at[0];
    return ahead > 0 || (ahead == 0 && !excludes) ? 1 : 0;
  });
  const Var triangle =
      reshape(call.constant(std::vector<double>(ones.begin(), ones.end())), size, size);
  const Value sums =
      call.result(matmul(matrix(rows, rows.size() / size, size), triangle), rows.axes, data.kind);
  return {transposed(call, sums, inverse_order(order))};
}

// Reverses the first lengths[b] entries of sequence b.
Values lower_reverse_sequence(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& lengths = call.input(1);
  const auto along = static_cast<std::size_t>(call.axis(call.integer("time_axis", 0), data.rank()));
  const auto each = static_cast<std::size_t>(call.axis(call.integer("batch_axis", 1), data.rank()));
  if (along == each || lengths.axes != Axes{data.axes[each]}) {
    call.refuse("lengths {} do not fit axis {} of {}", text(lengths.axes), each, text(data.axes));
  }
  call.require_no_batch(data, static_cast<int>(along), "it turns round");
  const std::vector<std::int64_t> known = call.known_of_one(1);
  for (const std::int64_t length : known) {
    if (length < 0 || length > data.axes[along].size) {
      call.refuse("length {} of a sequence of {}", length, data.axes[along].size);
    }
  }
  const std::vector<std::int64_t> strides = strides_of(data.axes);
  std::vector<std::int32_t> table = table_of(call, data.axes, [&](auto at) {
    const std::int64_t place = at[along];
    const std::int64_t length = known[static_cast<std::size_t>(at[each])];
    const std::int64_t turned = place < length ? length - 1 - place : place;
    return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0}) +
           (turned - place) * strides[along];
  });
  return {moved(call, data, {.axes = data.axes, .table = std::move(table)})};
}

// The entries along an axis, or of the whole tensor, where a known condition holds.
Values lower_compress(const OperatorCall& call) {
  const Value& data = call.input(0);
  const auto condition = indices_at_hand(call, 1);
  if (!condition) call.refuse("its condition depends on data, and so would the result's shape");
  call.require_common(1);
  const bool is_flat = !call.has_attribute("axis");
  const int axis = is_flat ? 0 : call.axis(call.integer("axis", 0), data.rank());
  for (int i = 0; i < data.rank(); ++i) {
    if (is_flat || i == axis) call.require_no_batch(data, i, "it picks entries along");
  }
  const std::int64_t size = is_flat ? data.size() : extent_of(data.axes, axis, axis + 1);
  const std::int64_t inner = is_flat ? 1 : extent_of(data.axes, axis + 1, data.rank());
  if (std::ssize(*condition) > size) {
    call.refuse("a condition of {} entries for an axis of {}", condition->size(), size);
  }
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < condition->size(); ++i) {
    if ((*condition)[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
  }
  Axes axes = is_flat ? Axes(1) : data.axes;
  axes[static_cast<std::size_t>(axis)] = {.size = std::ssize(kept)};
  const std::int64_t outer = is_flat ? 1 : extent_of(data.axes, 0, axis);
  std::vector<std::int32_t> table =
      table_of(call, plain_axes({outer, std::ssize(kept), inner}), [&](auto at) {
        return (at[0] * size + kept[static_cast<std::size_t>(at[1])]) * inner + at[2];
      });
  return {moved(call, data, {.axes = std::move(axes), .table = std::move(table)})};
}

constexpr std::array kIndexOperators = {
    Operator{"Compress", lower_compress, kSlopeOfFirst, 9},
    Operator{"CumSum", lower_cumulative_sum, kSlopeOfFirst, 11},
    Operator{"OneHot", lower_one_hot, 0b100, 9},
    Operator{"ReverseSequence", lower_reverse_sequence, kSlopeOfFirst, 10},
    Operator{"Tile", lower_tile, kSlopeOfFirst},
    Operator{"Trilu", lower_trilu, kSlopeOfFirst, 14},
    Operator{"Where", lower_where, 0b110, 9},
};

}  // namespace

std::span<const Operator> index_operators() { return kIndexOperators; }

}  // namespace hesscope::onnx
