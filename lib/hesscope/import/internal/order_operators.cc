// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that sort entries, or find the largest.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// Whether its numbers are known during the import.
bool is_at_hand(const OperatorCall& call, const Value& value) {
  return value.is_known() || !call.graph().constant_value(*value.var).empty();
}

// Compares entries of known numbers. Integers stay integers: two different 64-bit integers may be
// the same double.
std::function<bool(std::size_t, std::size_t)> less_of(const OperatorCall& call, const Value& data) {
  const auto less_among = [](auto entries) {
    return [entries = std::move(entries)](std::size_t a, std::size_t b) {
      return entries[a] < entries[b];
    };
  };
  if (data.is_known()) return less_among(call.known_of_one(0));
  return less_among(call.known_reals_of_one(0));
}

Value known_column(const OperatorCall& call, std::vector<std::int64_t> entries, Axes axes) {
  return call.known_result({.base = std::move(entries)}, std::move(axes));
}

// Places along an axis: the first `count` in the order given by `precedes`.
template <typename Precedes>
std::vector<std::vector<std::int64_t>> ordered_places(const Axes& axes,
                                                      int axis,
                                                      std::int64_t count,
                                                      Precedes precedes) {
  const std::int64_t size = extent_of(axes, axis, axis + 1);
  const std::int64_t inner = extent_of(axes, axis + 1, static_cast<int>(axes.size()));
  std::vector<std::vector<std::int64_t>> lines;
  for (std::int64_t line = 0; line < extent_of(axes, 0, axis) * inner; ++line) {
    const auto entry = [&](std::int64_t place) {
      return static_cast<std::size_t>((line / inner * size + place) * inner + line % inner);
    };
    std::vector<std::int64_t> places(static_cast<std::size_t>(size));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(
        places, [&](std::int64_t a, std::int64_t b) { return precedes(entry(a), entry(b)); });
    places.resize(static_cast<std::size_t>(count));
    lines.push_back(std::move(places));
  }
  return lines;
}

// For known numbers, so that the moved ones are known, too.
Values top_of_known(
    const OperatorCall& call, const Value& data, int axis, std::int64_t count, bool takes_largest) {
  call.require_no_batch(data, axis, "it compares entries along");
  const auto is_less = less_of(call, data);
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t size = data.axes[along].size;
  const auto lines = ordered_places(data.axes, axis, count, [&](std::size_t a, std::size_t b) {
    return takes_largest ? is_less(b, a) : is_less(a, b);
  });
  Axes axes = data.axes;
  axes[along].size = count;
  const std::int64_t inner = extent_of(axes, axis + 1, data.rank());
  const std::vector<std::int32_t> places =
      table_of(call, plain_axes({extent_of(axes, 0, axis), count, inner}), [&](auto at) {
        return lines[static_cast<std::size_t>(at[0] * inner + at[2])]
                    [static_cast<std::size_t>(at[1])];
      });
  std::vector<std::int32_t> table = places;
  for (std::size_t e = 0; e < table.size(); ++e) {
    const auto entry = static_cast<std::int64_t>(e);
    const std::int64_t outer = entry / (count * inner);
    table[e] = static_cast<std::int32_t>((outer * size + places[e]) * inner + entry % inner);
  }
  return {moved(call, data, {.axes = axes, .table = std::move(table)}),
          known_column(call, {places.begin(), places.end()}, axes)};
}

// For other numbers, each entry is compared with its whole line; equal ones keep their order.
Values top_of_computed(
    const OperatorCall& call, const Value& data, int axis, std::int64_t count, bool takes_largest) {
  call.require_no_batch(data, axis, "it compares entries along");
  const std::vector<int> order = order_with_last(data.rank(), std::span(&axis, 1));
  const Value ordered = transposed(call, call.real(data), order);
  const std::int64_t size = ordered.axes.back().size;
  const std::int64_t lines = data.size() / size;
  const Axes pairs = plain_axes({lines, size, size});  // line l, entry i, another entry j
  const Axes hits = plain_axes({lines, count, size});  // line l, place k of the result, entry i
  call.checked_size(pairs);
  Axes axes = ordered.axes;
  axes.back().size = count;
  if (count == 0) {
    const Value none = call.known_result({}, axes, ElementKind::kInteger);
    return {none, none};
  }
  const auto spread = [&](Var a, const Axes& to, auto source) {
    const Eigen::Index rows = to[0].size * to[1].size;
    return gather(a, table_of(call, to, source), rows, size);
  };
  const auto constants = [&](const Axes& of, auto number) {
    const std::vector<std::int32_t> entries = table_of(call, of, number);
    const Var column = call.constant(std::vector<double>(entries.begin(), entries.end()));
    return reshape(column, of[0].size * of[1].size, of[2].size);
  };
  const Var entries = matrix(ordered, lines * size, 1);
  const Var own = spread(entries, pairs, [&](auto at) { return at[0] * size + at[1]; });
  const Var other = spread(entries, pairs, [&](auto at) { return at[0] * size + at[2]; });
  const Var is_earlier = constants(pairs, [](auto at) { return at[2] < at[1] ? 1 : 0; });
  const Var is_before = (takes_largest ? less(own, other) : less(other, own)) +
                        hadamard(equal(own, other), is_earlier);
  const Var place =
      spread(sum_rows(is_before), hits, [&](auto at) { return at[0] * size + at[2]; });
  const Axes of_results = plain_axes({lines, count, 1});
  const Var is_hit = equal(place, constants(of_results, [](auto at) { return at[1]; }));
  const Var values = spread(entries, hits, [&](auto at) { return at[0] * size + at[2]; });
  const Var zeros = constants(hits, [](auto /*at*/) { return 0; });
  const Var from = constants(hits, [](auto at) { return at[2]; });
  const auto result = [&](Var column, ElementKind kind) {
    return transposed(call, call.result(column, axes, kind), inverse_order(order));
  };
  return {result(sum_rows(select(is_hit, values, zeros)), data.kind),
          result(sum_rows(hadamard(is_hit, from)), ElementKind::kInteger)};
}

// The largest or smallest entries along an axis, in order, and their places.
Values lower_top_k(const OperatorCall& call) {
  const Value& data = call.input(0);
  const bool takes_largest = call.integer("largest", 1) != 0;
  const int axis = call.axis(call.integer("axis", -1), data.rank());
  const std::int64_t size = data.axes[static_cast<std::size_t>(axis)].size;
  const std::vector<std::int64_t> wanted =
      call.has_attribute("k") ? std::vector{call.integer("k", 0)} : call.known(1);
  if (wanted.size() != 1 || wanted.front() < 0 || wanted.front() > size) {
    call.refuse("k must be one number of at most {}, the length of axis {}", size, axis);
  }
  return is_at_hand(call, data) ? top_of_known(call, data, axis, wanted.front(), takes_largest)
                                : top_of_computed(call, data, axis, wanted.front(), takes_largest);
}

// The place of the first or last of the largest entries along an axis, for numbers that are not
// known. It changes by jumps, and has no slope in between.
Value computed_place(
    const OperatorCall& call, const Value& data, int axis, bool takes_last, Axes axes) {
  call.require_no_batch(data, axis, "it compares entries along");
  const Value ordered = transposed(call, data, order_with_last(data.rank(), std::span(&axis, 1)));
  const std::int64_t size = ordered.axes.back().size;
  const Var rows = matrix(ordered, data.size() / size, size);
  std::vector<double> ranks(static_cast<std::size_t>(size));  // the preferred place has the highest
  for (std::int64_t i = 0; i < size; ++i) {
    ranks[static_cast<std::size_t>(i)] = static_cast<double>(takes_last ? i + 1 : size - i);
  }
  const Var is_largest = equal(rows, max_rows(rows));
  const Var rank =
      max_rows(hadamard(is_largest, reshape(call.constant(ranks), 1, std::ssize(ranks))));
  const Var place =
      takes_last ? rank - call.constant(1.0) : call.constant(static_cast<double>(size)) - rank;
  return call.result(place, std::move(axes), ElementKind::kInteger);
}

template <bool kIsLargest>
Values lower_arg_extreme(const OperatorCall& call) {
  const Value& data = call.input(0);
  const int axis = call.axis(call.integer("axis", 0), data.rank());
  const auto along = static_cast<std::size_t>(axis);
  call.checked_size(data.axes);  // without entries, there is no largest
  const bool takes_last = call.integer("select_last_index", 0) != 0;
  Axes axes = data.axes;
  axes[along] = Axis{};
  if (call.integer("keepdims", 1) == 0) axes.erase(axes.begin() + axis);
  if (!is_at_hand(call, data)) {
    Value compared = call.real(data);
    if (!kIsLargest) compared.var = -*compared.var;
    return {computed_place(call, compared, axis, takes_last, std::move(axes))};
  }
  const auto is_less = less_of(call, data);
  call.require_no_batch(data, axis, "it compares entries along");
  const auto lines = ordered_places(data.axes, axis, 1, [&](std::size_t a, std::size_t b) {
    if (is_less(a, b) || is_less(b, a)) return kIsLargest ? is_less(b, a) : is_less(a, b);
    return takes_last && a > b;
  });
  std::vector<std::int64_t> places;
  for (const auto& line : lines) places.push_back(line.front());
  return {known_column(call, std::move(places), std::move(axes))};
}

// Positions of nonzero entries, one column each.
Values lower_non_zero(const OperatorCall& call) {
  const Value& data = call.input(0);
  if (!is_at_hand(call, data)) {
    call.refuse(
        "its result depends on which entries of input 1 are not zero, and so does its shape; only "
        "constants and shapes are taken: let all entries stay, times a mask or chosen by Where");
  }
  const std::vector<double> numbers = call.known_reals_of_one(0);
  call.require_common(0);
  std::vector<std::vector<std::int64_t>> positions(data.axes.size());
  std::int64_t count = 0;
  for (std::size_t e = 0; e < numbers.size(); ++e) {
    if (numbers[e] == 0) continue;
    ++count;
    auto rest = static_cast<std::int64_t>(e);
    for (std::size_t i = data.axes.size(); i-- > 0; rest /= data.axes[i].size) {
      positions[i].push_back(rest % data.axes[i].size);
    }
  }
  std::vector<std::int64_t> entries;
  for (const auto& one : positions) entries.insert(entries.end(), one.begin(), one.end());
  return {known_column(call, std::move(entries), plain_axes({data.rank(), count}))};
}

constexpr std::array kOrderOperators = {
    Operator{"ArgMax", lower_arg_extreme<true>, kNoSlope},
    Operator{"ArgMin", lower_arg_extreme<false>, kNoSlope},
    Operator{"NonZero", lower_non_zero, kNoSlope, 9},
    Operator{"TopK", lower_top_k, kSlopeOfFirst},
};

}  // namespace

std::span<const Operator> order_operators() { return kOrderOperators; }

}  // namespace hesscope::onnx
