// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>

namespace hesscope::onnx {

std::optional<std::vector<std::int64_t>> indices_at_hand(const OperatorCall& call, std::size_t i) {
  const Value& indices = call.input(i);
  if (indices.is_known()) return call.known_of_one(i);
  if (call.graph().varies(*indices.var)) {
    call.refuse("input {} changes with the parameters; it must be known, or come from data", i + 1);
  }
  if (call.graph().constant_value(*indices.var).empty()) return std::nullopt;
  const std::vector<double> numbers = call.known_reals_of_one(i);
  std::vector<std::int64_t> cut;
  for (const double number : numbers) {
    constexpr double kMost = 9e15;
    if (!(number > -kMost && number < kMost)) call.refuse("{} is no index", number);
    cut.push_back(static_cast<std::int64_t>(number));
  }
  return cut;
}

std::int64_t counted_from_front(const OperatorCall& call, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    call.refuse("index {} is not one of {} entries", index, size);
  }
  return index < 0 ? index + size : index;
}

Var index_column(const Value& indices, std::int64_t size) {
  const Var column = matrix(indices, indices.size(), 1);
  const double zero = 0;
  const Var is_negative = less(column, column.graph().constant(std::span(&zero, 1), 1, 1));
  return column + static_cast<double>(size) * is_negative;
}

Var is_outside(Var column, std::int64_t size) {
  const auto number = [&](double value) {
    return column.graph().constant(std::span(&value, 1), 1, 1);
  };
  return less(column, number(0)) + less(number(static_cast<double>(size - 1)), column);
}

Var entries_at(const Value& value, Var places) {
  return lookup(matrix(value, value.size(), 1), places);
}

Var without(Var places, Var flags) {
  constexpr double kNoPlace = -1e12;  // beyond all possible sizes of a tensor
  return places + kNoPlace * flags;
}

void require_one_batch(const OperatorCall& call, const Axes& axes, const Value& a, const Value& b) {
  if (std::ranges::count_if(axes, &Axis::has_batch) <= 1) return;
  call.refuse("shapes {} and {} let each sample meet all others of the batch (N)",
              text(a.axes),
              text(b.axes));
}

void require_same_batch(
    const OperatorCall& call, const Value& a, const Value& b, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const Axis& x = a.axes[static_cast<std::size_t>(i)];
    const Axis& y = b.axes[static_cast<std::size_t>(i)];
    if (!x.has_batch && !y.has_batch) continue;
    if (x == y) continue;
    call.refuse(
        "shapes {} and {} let samples meet other things than themselves: the batch (N) must be at "
        "axis {} of both",
        text(a.axes),
        text(b.axes),
        i);
  }
}

std::int64_t extent_of(const Axes& axes, int begin, int end) {
  std::int64_t extent = 1;
  for (int i = begin; i < end; ++i) extent *= axes[static_cast<std::size_t>(i)].size;
  return extent;
}

}  // namespace hesscope::onnx
