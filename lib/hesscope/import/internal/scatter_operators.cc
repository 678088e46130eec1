// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/sample_numbers.h>
#include <hesscope/import/internal/scattered_lines.h>

namespace hesscope::onnx {
namespace {

// The new values of entries that are hit: a row for each, with the entry itself and all updates
// that hit it; rows are padded with neutral values.
Value reduced(const OperatorCall& call,
              const Value& data,
              const Value& updates,
              const std::map<std::int32_t, std::vector<std::int32_t>>& hits,
              const std::string& reduction) {
  std::size_t length = 0;
  for (const auto& [entry, from] : hits) length = std::max(length, from.size() + 1);
  const Axes axes =
      plain_axes({static_cast<std::int64_t>(hits.size()), static_cast<std::int64_t>(length)});
  call.checked_size(axes);
  const bool repeats_entry = reduction == "max" || reduction == "min";
  std::vector<std::int32_t> table;
  for (const auto& [entry, from] : hits) {
    table.push_back(entry);
    for (const std::int32_t e : from) {
      table.push_back(static_cast<std::int32_t>(data.size()) + e);
    }
    table.resize(table.size() + length - 1 - from.size(), repeats_entry ? entry : -1);
  }
  const std::array both = {data, updates};
  const Value joined =
      moved(call,
            both,
            {.axes = axes, .table = std::move(table), .fill = reduction == "mul" ? 1.0 : 0.0});
  const Var rows = matrix(joined, axes[0].size, axes[1].size);
  const Var result = joined_rows(call, rows, reduction);
  return call.result(result, {axes.front()}, data.kind);
}

// The entries of a value that does not depend on data; otherwise empty.
std::vector<double> constants_of(const OperatorCall& call, const Value& value) {
  if (value.is_known()) return {value.integers->base.begin(), value.integers->base.end()};
  const auto entries = call.graph().constant_value(*value.var);
  return {entries.begin(), entries.end()};
}

// The data with update e stored at entry targets[e], or combined with what is there.
Value scattered(const OperatorCall& call,
                const Value& data,
                const Value& updates,
                const std::vector<std::int32_t>& targets,
                const std::string& reduction) {
  std::vector<std::int32_t> table(static_cast<std::size_t>(data.size()));
  std::iota(table.begin(), table.end(), 0);
  const auto end = static_cast<std::int32_t>(table.size());
  if (reduction == "none") {
    const std::vector<double> constants = constants_of(call, updates);
    for (std::size_t e = 0; e < targets.size(); ++e) {
      std::int32_t& entry = table[static_cast<std::size_t>(targets[e])];
      const bool is_taken = entry >= end;
      const bool is_same = !constants.empty() && is_taken &&
                           constants[static_cast<std::size_t>(entry - end)] == constants[e];
      if (is_taken && !is_same) {
        call.refuse(
            "puts several numbers in one place, which ONNX leaves open: PyTorch writes sums so "
            "(scatter_add before opset 16; index_add, and index_put with accumulate), and all but "
            "one of their terms would be lost. Export scatter_add with opset_version=16, and "
            "write the others as scatter_add");
      }
      entry = end + static_cast<std::int32_t>(e);
    }
    const std::array both = {data, updates};
    return moved(call, both, {.axes = data.axes, .table = std::move(table)});
  }
  std::map<std::int32_t, std::vector<std::int32_t>> hits;
  for (std::size_t e = 0; e < targets.size(); ++e) {
    hits[targets[e]].push_back(static_cast<std::int32_t>(e));
  }
  if (hits.empty()) return data;
  const std::array both = {call.real(data),
                           reduced(call, call.real(data), call.real(updates), hits, reduction)};
  std::int32_t next = end;
  for (const auto& [entry, from] : hits) table[static_cast<std::size_t>(entry)] = next++;
  return moved(call, both, {.axes = data.axes, .table = std::move(table)});
}

// For places along the axis that are given by data.
Value scattered_by_data(const OperatorCall& call,
                        const Value& data,
                        const Value& indices,
                        const Value& updates,
                        int axis) {
  call.checked_size(data.axes);  // without entries there are no places
  const std::array last = {axis};
  const std::vector<int> order = order_with_last(data.rank(), last);
  const auto lines_of = [&](const Value& value) {
    const std::int64_t cols = value.axes[static_cast<std::size_t>(axis)].size;
    return matrix(transposed(call, call.real(value), order), value.size() / cols, cols);
  };
  const Var lines = lines_of(data);
  const Var places = lines_of(indices);
  if (places.rows() != lines.rows()) {
    call.refuse("indices {} that depend on data must have the lengths of data {} but along axis {}",
                text(indices.axes),
                text(data.axes),
                axis);
  }
  const Var result =
      scattered_lines(call, lines, places, lines_of(updates), call.text("reduction", "none"));
  Axes axes;
  for (const int i : order) axes.push_back(data.axes[static_cast<std::size_t>(i)]);
  return transposed(call, call.result(result, std::move(axes), data.kind), inverse_order(order));
}

// Result[i0, ..., indices[i0, i1, ...], ...] = updates[i0, i1, ...], the index at `axis`.
Values lower_scatter_elements(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& indices = call.input(1);
  const Value& updates = call.input(2);
  const int axis = call.axis(call.integer("axis", 0), data.rank());
  const bool fits =
      indices.rank() == data.rank() && sizes_of(indices.axes) == sizes_of(updates.axes);
  if (!fits) {
    call.refuse("indices {} and updates {} must have the same shape, and data {} the same rank",
                text(indices.axes),
                text(updates.axes),
                text(data.axes));
  }
  for (const Value* value : {&data, &indices, &updates}) {
    call.require_no_batch(*value, axis, "it puts entries along");
    require_same_batch(call, data, *value, 0, data.rank());
  }
  std::vector<std::int64_t> strides = strides_of(data.axes);
  const auto along = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (i != along && indices.axes[i].size > data.axes[i].size) {
      call.refuse("indices {} reach beyond {}", text(indices.axes), text(data.axes));
    }
  }
  const auto known = indices_at_hand(call, 1);
  if (!known) return {scattered_by_data(call, data, indices, updates, axis)};
  const std::int64_t stride = std::exchange(strides[along], 0);
  std::vector<std::int32_t> targets = table_of(call, indices.axes, [&](auto at) {
    return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
  });
  for (std::size_t e = 0; e < targets.size(); ++e) {
    targets[e] += static_cast<std::int32_t>(
        stride * counted_from_front(call, (*known)[e], data.axes[along].size));
  }
  return {scattered(call, data, updates, targets, call.text("reduction", "none"))};
}

// How slices are stored along each of the data's first axes: each sample's among its own entries if
// the indices number samples, as those of x[:, 1:3] = y and x[arange(N), i] = y do.
std::vector<Picking> pickings_of(const OperatorCall& call,
                                 const Value& data,
                                 const Value& indices,
                                 int depth) {
  std::vector<Picking> pickings;
  for (int k = 0; k < depth; ++k) {
    if (!indices.counts_samples()) call.require_no_batch(data, k, "it puts slices along");
    pickings.push_back(picking_of(call, data, k, indices, k, depth));
  }
  const bool is_own =
      std::ranges::any_of(pickings, [](Picking picking) { return picking != Picking::kAny; });
  // Else slices of the result would hold what several samples put there.
  for (int i = 0; i < indices.rank(); ++i) {
    const bool is_last = i + 1 == indices.rank();
    if (!is_own || is_last) call.require_no_batch(indices, i, "it puts slices by");
  }
  return pickings;
}

// The data give the places of slices, along the data's first axes.
Value slices_by_data(const OperatorCall& call,
                     const Value& data,
                     const Value& indices,
                     const Value& updates,
                     const std::vector<Picking>& pickings) {
  const auto depth = static_cast<int>(pickings.size());
  call.checked_size(data.axes);  // without entries there are no places
  const std::int64_t inner = extent_of(data.axes, depth, data.rank());
  const std::int64_t num_places = extent_of(data.axes, 0, depth);
  const std::int64_t slices = extent_of(indices.axes, 0, indices.rank() - 1);
  const std::vector<std::int64_t> strides = strides_of(data.axes);
  Var places = call.constant(0.0);
  for (int k = 0; k < depth; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const std::int64_t size = data.axes[i].size;
    const Value own = {.axes = plain_axes({slices}),
                       .var = slice(matrix(indices, slices, depth), 0, k, slices, 1)};
    const Var column = places_of(own, size, pickings[i]);
    const std::int64_t step = strides[i] / inner;
    places = without(places + static_cast<double>(step) * column, is_outside(column, size));
  }
  // A line for each entry of a slice.
  const std::vector<int> turned = {1, 0};
  const auto lines_of = [&](const Value& value, std::int64_t rows) {
    const Value whole = call.real(value);
    return matrix(transposed(call, {.axes = plain_axes({rows, inner}), .var = whole.var}, turned),
                  inner,
                  rows);
  };
  const std::vector<std::int32_t> of_all =
      table_of(call, plain_axes({inner, slices}), [](auto at) { return at[1]; });
  const Var result = scattered_lines(call,
                                     lines_of(data, num_places),
                                     gather(places, of_all, inner, slices),
                                     lines_of(updates, slices),
                                     call.text("reduction", "none"));
  const Value lines = call.result(result, plain_axes({inner, num_places}));
  return call.result(*transposed(call, lines, turned).var, data.axes, data.kind);
}

// The last axis of the indices gives places along the data's first axes, where whole slices are
// stored.
Values lower_scatter_nd(const OperatorCall& call) {
  const Value& data = call.input(0);
  const Value& indices = call.input(1);
  const Value& updates = call.input(2);
  const int rank = data.rank();
  if (indices.rank() < 1) call.refuse("the indices must have an axis");
  const auto depth = static_cast<int>(std::min<std::int64_t>(indices.axes.back().size, rank + 1));
  Axes expected(indices.axes.begin(), indices.axes.end() - 1);
  if (depth <= rank) {
    expected.insert(expected.end(), data.axes.begin() + depth, data.axes.end());
  }
  if (depth < 1 || depth > rank || updates.axes != expected) {
    call.refuse("indices {} and updates {} do not fit data {}",
                text(indices.axes),
                text(updates.axes),
                text(data.axes));
  }
  const std::vector<Picking> pickings = pickings_of(call, data, indices, depth);
  const auto known = indices_at_hand(call, 1);
  if (!known) return {slices_by_data(call, data, indices, updates, pickings)};
  const std::vector<std::int64_t> strides = strides_of(data.axes);
  const std::int64_t inner = extent_of(data.axes, depth, rank);
  const std::int64_t slices = extent_of(indices.axes, 0, indices.rank() - 1);
  std::vector<std::int64_t> starts;
  for (std::int64_t s = 0; s < slices; ++s) {
    std::int64_t start = 0;
    for (int k = 0; k < depth; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const std::int64_t index = (*known)[static_cast<std::size_t>(s * depth + k)];
      start += strides[i] * place_of(call, index, data.axes[i], pickings[i]);
    }
    starts.push_back(start);
  }
  const std::vector<std::int32_t> targets =
      table_of(call, plain_axes({slices, inner}), [&](auto at) {
        return starts[static_cast<std::size_t>(at[0])] + at[1];
      });
  return {scattered(call, data, updates, targets, call.text("reduction", "none"))};
}

constexpr std::array kScatterOperators = {
    Operator{"Scatter", of_same_kind<lower_scatter_elements>, 0b101, 9},
    Operator{"ScatterElements", of_same_kind<lower_scatter_elements>, 0b101, 11},
    Operator{"ScatterND", of_same_kind<lower_scatter_nd>, 0b101, 11},
};

}  // namespace

std::span<const Operator> scatter_operators() { return kScatterOperators; }

}  // namespace hesscope::onnx
