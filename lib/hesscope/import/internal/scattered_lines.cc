// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/indices.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/scattered_lines.h>

namespace hesscope::onnx {
namespace {

using Eigen::Index;

// A row for each entry n of each line l, with a column for each update of the line.
class ScatteredLines {
 public:
  ScatteredLines(const OperatorCall& call, Var lines, Var places, Var updates)
      : call_(call),
        size_(lines.cols()),
        count_(updates.cols()),
        rows_(lines.rows() * size_),
        entries_(reshape(lines, rows_, 1)),
        places_(index_column({.axes = plain_axes({places.rows(), count_}), .var = places}, size_)),
        updates_(beside_entries(updates)),
        is_one_number_(has_one_number(updates)),
        is_hit_(equal(beside_entries(places_), own_places())) {}

  Var replaced() const {
    const Var num_hits = sum_rows(is_hit_);
    const Var is_any_hit = less(call_.constant(0.0), num_hits);
    if (count_ == 1 || is_one_number_) {
      return select(is_any_hit, slice(updates_, 0, 0, rows_, 1), entries_) + misses();
    }
    constexpr std::int64_t kFirstWithSums = 16;
    if (call_.opset() < kFirstWithSums) {
      call_.refuse(
          "puts numbers at places that depend on data, where several may meet: PyTorch writes "
          "sums so (scatter_add) before opset 16, and all but one of their terms would be lost. "
          "Export it with opset_version=16");
    }
    const Var meet = less(call_.constant(1.0), num_hits);
    const Var put = sum_rows(select(is_hit_, updates_, filled(0.0))) + nan_where(meet);
    return select(is_any_hit, put, entries_) + misses();
  }

  Var joined(const std::string& reduction) const {
    const bool is_extreme = reduction == "max" || reduction == "min";
    const Var elsewhere =
        is_extreme ? moved_to_rows(entries_, count_, [](Index row, Index /*e*/) { return row; })
                   : filled(reduction == "mul" ? 1.0 : 0.0);
    const Var hits = select(is_hit_, updates_, elsewhere);
    const std::vector<std::int32_t> table =
        table_of(call_, plain_axes({rows_, 1 + count_}), [&](auto at) {
          return at[1] == 0 ? at[0] : rows_ + at[0] * count_ + at[1] - 1;
        });
    return joined_rows(call_, gather(entries_, hits, table, rows_, 1 + count_), reduction) +
           misses();
  }

 private:
  template <typename Source>
  Var moved_to_rows(Var a, Index cols, Source source) const {
    const std::vector<std::int32_t> table =
        table_of(call_, plain_axes({rows_, cols}), [&](auto at) { return source(at[0], at[1]); });
    return gather(a, table, rows_, cols);
  }

  bool has_one_number(Var updates) const {
    const auto numbers = call_.graph().constant_value(updates);
    return !numbers.empty() &&
           std::ranges::adjacent_find(numbers, std::not_equal_to()) == numbers.end();
  }

  Var beside_entries(Var of_lines) const {
    return moved_to_rows(
        of_lines, count_, [&](Index row, Index e) { return row / size_ * count_ + e; });
  }

  Var own_places() const {
    std::vector<double> own;
    for (Index row = 0; row < rows_; ++row) own.push_back(static_cast<double>(row % size_));
    return call_.constant(own);
  }

  Var filled(double number) const {
    const std::vector<double> entries(static_cast<std::size_t>(rows_ * count_), number);
    return call_.graph().constant(entries, rows_, count_);
  }

  // 0 where the flag in the column is 0, NaN elsewhere: looks up a nonexistent row of a table.
  Var nan_where(Var flags) const { return lookup(call_.constant(0.0), -flags); }

  // 0 in lines whose places all exist, NaN in others.
  Var misses() const {
    const Var is_missed = is_outside(places_, size_) + 0.0 * places_;  // or NaN
    const Var of_lines = sum_rows(reshape(nan_where(is_missed), rows_ / size_, count_));
    return moved_to_rows(of_lines, 1, [&](Index row, Index /*e*/) { return row / size_; });
  }

  const OperatorCall& call_;
  Index size_;
  Index count_;
  Index rows_;
  Var entries_;
  Var places_;
  Var updates_;
  bool is_one_number_;
  Var is_hit_;
};

}  // namespace

Var joined_rows(const OperatorCall& call, Var rows, const std::string& reduction) {
  if (reduction == "add") return sum_rows(rows);
  if (reduction == "mul") return product_rows(rows);
  if (reduction == "max") return max_rows(rows);
  if (reduction == "min") return min_rows(rows);
  call.refuse("reduction '{}' is not one of none, add, mul, max and min", reduction);
}

Var scattered_lines(
    const OperatorCall& call, Var lines, Var places, Var updates, const std::string& reduction) {
  call.checked_size(plain_axes({lines.rows(), lines.cols(), updates.cols()}));
  const ScatteredLines scattered(call, lines, places, updates);
  const Var entries = reduction == "none" ? scattered.replaced() : scattered.joined(reduction);
  return reshape(entries, lines.rows(), lines.cols());
}

}  // namespace hesscope::onnx
