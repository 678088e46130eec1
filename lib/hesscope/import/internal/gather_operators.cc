// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

// Known indices, counted from the front.
std::optional<std::vector<std::int64_t>> known_places(const OperatorCall& call,
                                                      const Axis& along,
                                                      Picking picking) {
  const Value& indices = call.input(1);
  std::vector<std::int64_t> places;
  if (picking == Picking::kOwn && indices.is_known()) {
    for (std::size_t e = 0; e < indices.integers->base.size(); ++e) {
      places.push_back(
          own_place(call, along, indices.integers->base[e], indices.integers->slope(e)));
    }
    return places;
  }
  const auto known = indices_at_hand(call, 1);
  if (!known) return std::nullopt;
  for (const std::int64_t index : *known) places.push_back(place_of(call, index, along, picking));
  return places;
}

// Rows of a table selected by the data, as word vectors are: the axis is moved to the front, and
// the indices' axes take its place.
Value looked_up(
    const OperatorCall& call, const Value& data, const Value& indices, int axis, Picking picking) {
  const auto rank = static_cast<std::size_t>(data.rank());
  std::vector<int> to_front = {axis};
  for (int i = 0; i < data.rank(); ++i) {
    if (i != axis) to_front.push_back(i);
  }
  const Value table = transposed(call, call.real(data), to_front);
  const std::int64_t size = table.axes.front().size;
  Axes axes = indices.axes;
  axes.insert(axes.end(), table.axes.begin() + 1, table.axes.end());
  call.checked_size(axes);
  const Var rows = places_of(indices, size, picking);
  const Value found =
      call.result(lookup(matrix(table, size, table.size() / size), rows), axes, data.kind);
  std::vector<int> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(),
              order.begin() + static_cast<std::ptrdiff_t>(indices.axes.size()),
              order.end() - static_cast<std::ptrdiff_t>(rank - 1 - static_cast<std::size_t>(axis)));
  return transposed(call, found, order);
}

Values lower_gather(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& indices = call.input(1);
  const int axis = call.axis(call.integer("axis", 0), data.rank());
  const Picking picking = picking_of(call, data, axis, indices);
  Axes axes(data.axes.begin(), data.axes.begin() + axis);
  axes.insert(axes.end(), indices.axes.begin(), indices.axes.end());
  axes.insert(axes.end(), data.axes.begin() + axis + 1, data.axes.end());
  require_one_batch(call, axes, data, indices);
  const Axis& along = data.axes[static_cast<std::size_t>(axis)];
  const auto rows = known_places(call, along, picking);
  if (!rows) return {looked_up(call, data, indices, axis, picking)};

  const std::int64_t size = extent_of(data.axes, axis, axis + 1);
  const std::int64_t inner = extent_of(data.axes, axis + 1, data.rank());
  std::vector<std::int32_t> table = table_of(
      call,
      plain_axes({extent_of(data.axes, 0, axis), static_cast<std::int64_t>(rows->size()), inner}),
      [&](auto at) {
        return (at[0] * size + (*rows)[static_cast<std::size_t>(at[1])]) * inner + at[2];
      });
  return {moved(call, data, {.axes = std::move(axes), .table = std::move(table)})};
}

// Result[i0, i1, ...] = data[i0, ..., indices[i0, i1, ...], ...], the index at `axis`.
Values lower_gather_elements(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& indices = call.input(1);
  const int axis = call.axis(call.integer("axis", 0), data.rank());
  if (indices.rank() != data.rank()) {
    call.refuse("shapes {} and {} must have the same rank", text(data.axes), text(indices.axes));
  }
  call.require_no_batch(data, axis, "it picks entries along");
  // From a table that all samples share, each may select its own entries, as in x.gather(0, i).
  require_same_batch(call, data, indices, 0, axis);
  require_same_batch(call, data, indices, axis + 1, data.rank());
  if (batch_axis(data.axes) >= 0) call.require_no_batch(indices, axis, "it picks entries by");
  std::vector<std::int64_t> strides = strides_of(data.axes);
  const auto along = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (i != along && indices.axes[i].size > data.axes[i].size) {
      call.refuse("indices {} reach beyond {}", text(indices.axes), text(data.axes));
    }
  }
  const std::int64_t stride = std::exchange(strides[along], 0);
  const std::int64_t size = data.axes[along].size;
  const auto base = [&](std::span<const std::int64_t> at) {
    return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
  };
  std::vector<std::int32_t> table = table_of(call, indices.axes, base);
  if (const auto known = indices_at_hand(call, 1)) {
    for (std::size_t e = 0; e < table.size(); ++e) {
      table[e] += static_cast<std::int32_t>(stride * counted_from_front(call, (*known)[e], size));
    }
    return {moved(call, data, {.axes = indices.axes, .table = std::move(table)})};
  }
  const Var column = index_column(indices, size);
  const Var first = call.constant(std::vector<double>(table.begin(), table.end()));
  const Var places = first + static_cast<double>(stride) * column;
  const Var found = entries_at(call.real(data), without(places, is_outside(column, size)));
  return {call.result(found, indices.axes, data.kind)};
}

// The last axis of the indices selects places along the data's axes after the first batch_dims,
// which both have in common; whole slices are taken from there.
Values lower_gather_nd(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& indices = call.input(1);
  const std::int64_t common = call.integer("batch_dims", 0);
  const int rank = data.rank();
  if (indices.rank() < 1) call.refuse("the indices must have an axis");
  const std::int64_t depth = indices.axes.back().size;
  if (common < 0 || common >= indices.rank() || depth < 1 || common + depth > rank) {
    call.refuse("batch_dims {} and indices {} do not fit data {}",
                common,
                text(indices.axes),
                text(data.axes));
  }
  const auto first = static_cast<int>(common);
  const auto end = static_cast<int>(common + depth);
  call.require_no_batch(indices, indices.rank() - 1, "it picks entries by");
  std::vector<Picking> pickings;  // for each selected axis
  for (std::int64_t k = 0; k < depth; ++k) {
    pickings.push_back(picking_of(call, data, static_cast<int>(common + k), indices, k, depth));
  }
  require_same_batch(call, data, indices, 0, first);
  for (int i = 0; i < first; ++i) {
    if (data.axes[static_cast<std::size_t>(i)] != indices.axes[static_cast<std::size_t>(i)]) {
      call.refuse("axis {} of {} and {} must be the same", i, text(data.axes), text(indices.axes));
    }
  }
  Axes axes(indices.axes.begin(), indices.axes.end() - 1);
  axes.insert(axes.end(), data.axes.begin() + end, data.axes.end());
  require_one_batch(call, axes, data, indices);

  const std::vector<std::int64_t> strides = strides_of(data.axes);
  const std::int64_t inner = extent_of(data.axes, end, rank);
  const std::int64_t block = extent_of(data.axes, first, rank);
  const std::int64_t num_blocks = extent_of(data.axes, 0, first);
  const std::int64_t slices = extent_of(indices.axes, first, indices.rank() - 1);
  std::vector<std::int32_t> table = table_of(call,
                                             plain_axes({num_blocks, slices, inner}),
                                             [&](auto at) { return at[0] * block + at[2]; });
  const auto axis_of = [&](std::int64_t k) { return static_cast<std::size_t>(common + k); };
  if (const auto known = indices_at_hand(call, 1)) {
    for (std::size_t e = 0; e < table.size(); ++e) {
      const std::int64_t slice = static_cast<std::int64_t>(e) / inner;
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t index = (*known)[static_cast<std::size_t>(slice * depth + k)];
        table[e] += static_cast<std::int32_t>(
            strides[axis_of(k)] *
            place_of(call, index, data.axes[axis_of(k)], pickings[static_cast<std::size_t>(k)]));
      }
    }
    return {moved(call, data, {.axes = std::move(axes), .table = std::move(table)})};
  }
  // A column of places for the first entry of each slice, then a row with the others behind it.
  const std::int64_t rows = num_blocks * slices;
  std::vector<double> starts;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t start = row / slices * block;
    starts.push_back(static_cast<double>(start));
  }
  Var places = call.constant(starts);
  for (std::int64_t k = 0; k < depth; ++k) {
    const Value own = {.axes = {{.size = rows}},
                       .var = slice(matrix(indices, rows, depth), 0, k, rows, 1)};
    const std::int64_t size = data.axes[axis_of(k)].size;
    const Var column = places_of(own, size, pickings[static_cast<std::size_t>(k)]);
    places = without(places + static_cast<double>(strides[axis_of(k)]) * column,
                     is_outside(column, size));
  }
  std::vector<double> behind(static_cast<std::size_t>(inner));
  std::iota(behind.begin(), behind.end(), 0.0);
  const Var all = places + reshape(call.constant(behind), 1, inner);
  const Var found = entries_at(call.real(data), reshape(all, rows * inner, 1));
  return {call.result(found, std::move(axes), data.kind)};
}

constexpr std::array kGatherOperators = {
    Operator{"Gather", lower_gather, kSlopeOfFirst},
    Operator{"GatherElements", lower_gather_elements, kSlopeOfFirst, 11},
    Operator{"GatherND", lower_gather_nd, kSlopeOfFirst, 11},
};

}  // namespace

std::span<const Operator> gather_operators() { return kGatherOperators; }

}  // namespace hesscope::onnx
