// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors that are made of numbers alone, orders of known ones, and places that data tell.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// The first input as numbers that are known while importing. Refuses others: what they choose has
// jumps.
// @param chosen  what the result depends on the entries being.
std::vector<double> numbers_to_compare(const OperatorCall& call, std::string_view chosen) {
  const Value& value = call.input(0);
  if (!value.is_known() && call.graph().constant_value(*value.var).empty()) {
    call.refuse(
        "its result depends on which entries of input 1 are {}, and that changes by jumps; only "
        "constants and shapes are taken: export the model without this node, up to what it "
        "chooses from if it comes last",
        chosen);
  }
  return call.known_reals(0);
}

Value known_column(const OperatorCall& call, std::vector<std::int64_t> entries, Axes axes) {
  return call.known_result({.base = std::move(entries)}, std::move(axes));
}

Values lower_range(const OperatorCall& call) {
  const ElementKind kind = call.input(0).kind;
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::vector<double> one = call.known_reals(i);
    if (one.size() != 1) call.refuse("input {} must be one number", i + 1);
    numbers[i] = one.front();
  }
  const auto [start, limit, step] = numbers;
  const double count = std::max(std::ceil((limit - start) / step), 0.0);  // NaN stays
  constexpr double kMaxCount = 1e7;
  constexpr double kExact = 9e15;  // whole numbers below are doubles
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
    return {known_column(call, std::move(entries), plain_axes({size}))};
  }
  call.checked_size(plain_axes({size}));
  std::vector<double> entries;
  for (std::int64_t i = 0; i < size; ++i) entries.push_back(start + static_cast<double>(i) * step);
  return {call.result(call.constant(entries), plain_axes({size}))};
}

// The axes that a list of sizes names; b N is an axis with the batch.
Axes axes_of_sizes(const OperatorCall& call, const Value& sizes) {
  if (!sizes.is_known()) call.refuse("its shape depends on data");
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

// --- orders of known numbers -------------------------------------------------------------------

// Places along an axis, the first `count` in the order that `precedes` gives them.
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

Values lower_top_k(const OperatorCall& call) {
  const bool takes_largest = call.integer("largest", 1) != 0;
  const std::vector<double> numbers =
      numbers_to_compare(call, takes_largest ? "largest" : "smallest");
  const Value& data = call.input(0);
  const int axis = call.axis(call.integer("axis", -1), data.rank());
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t size = data.axes[along].size;
  const std::vector<std::int64_t> wanted =
      call.has_attribute("k") ? std::vector{call.integer("k", 0)} : call.known(1);
  if (wanted.size() != 1 || wanted.front() < 0 || wanted.front() > size) {
    call.refuse("k must be one number of at most {}, the length of axis {}", size, axis);
  }
  const auto lines =
      ordered_places(data.axes, axis, wanted.front(), [&](std::size_t a, std::size_t b) {
        return takes_largest ? numbers[a] > numbers[b] : numbers[a] < numbers[b];
      });
  Axes axes = data.axes;
  axes[along].size = wanted.front();
  const std::int64_t inner = extent_of(axes, axis + 1, data.rank());
  const std::vector<std::int32_t> places =
      table_of(call, plain_axes({extent_of(axes, 0, axis), wanted.front(), inner}), [&](auto at) {
        return lines[static_cast<std::size_t>(at[0] * inner + at[2])]
                    [static_cast<std::size_t>(at[1])];
      });
  std::vector<std::int32_t> table = places;
  for (std::size_t e = 0; e < table.size(); ++e) {
    const auto entry = static_cast<std::int64_t>(e);
    const std::int64_t outer = entry / (wanted.front() * inner);
    table[e] = static_cast<std::int32_t>((outer * size + places[e]) * inner + entry % inner);
  }
  return {moved(call, data, {.axes = axes, .table = std::move(table)}),
          known_column(call, {places.begin(), places.end()}, axes)};
}

// The place of the first or last of the largest along an axis, of entries that the data say.
Value place_in_data(const OperatorCall& call, Value data, int axis, bool takes_last, Axes axes) {
  call.require_no_batch(data, axis, "it compares entries along");
  const Value ordered = transposed(call, data, order_with_last(data.rank(), std::span(&axis, 1)));
  const std::int64_t size = ordered.axes.back().size;
  const Var rows = matrix(ordered, data.size() / size, size);
  std::vector<double> ranks(static_cast<std::size_t>(size));  // the place to take has the highest
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
  call.checked_size(data.axes);  // of no entries none is largest
  const bool takes_last = call.integer("select_last_index", 0) != 0;
  Axes axes = data.axes;
  axes[along] = Axis{};
  if (call.integer("keepdims", 1) == 0) axes.erase(axes.begin() + axis);
  const Graph& graph = call.graph();
  if (!data.is_known() && !graph.varies(*data.var) && graph.constant_value(*data.var).empty()) {
    Value compared = call.real(data);
    if (!kIsLargest) compared.var = -*compared.var;
    return {place_in_data(call, std::move(compared), axis, takes_last, std::move(axes))};
  }
  const std::vector<double> numbers = numbers_to_compare(call, kIsLargest ? "largest" : "smallest");
  const auto lines = ordered_places(data.axes, axis, 1, [&](std::size_t a, std::size_t b) {
    if (numbers[a] == numbers[b]) return takes_last && a > b;
    return kIsLargest ? numbers[a] > numbers[b] : numbers[a] < numbers[b];
  });
  std::vector<std::int64_t> places;
  for (const auto& line : lines) places.push_back(line.front());
  return {known_column(call, std::move(places), std::move(axes))};
}

// Positions of entries that are not 0, a column each.
Values lower_non_zero(const OperatorCall& call) {
  const std::vector<double> numbers = numbers_to_compare(call, "not zero");
  const Value& data = call.input(0);
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

constexpr std::array kFillingOperators = {
    Operator{"ArgMax", lower_arg_extreme<true>, kNoSlope},
    Operator{"ArgMin", lower_arg_extreme<false>, kNoSlope},
    Operator{"ConstantOfShape", lower_constant_of_shape, kNoSlope, 9},
    Operator{"EyeLike", lower_eye_like, kNoSlope, 9},
    Operator{"NonZero", lower_non_zero, kNoSlope, 9},
    Operator{"Range", lower_range, kNoSlope, 11},
    Operator{"TopK", lower_top_k, kSlopeOfFirst},
};

}  // namespace

std::span<const Operator> filling_operators() { return kFillingOperators; }

}  // namespace hesscope::onnx
