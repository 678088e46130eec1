// SPDX-License-Identifier: BSD-3-Clause
//
// Pools: one number for each window of each channel, or for each channel.
#include <algorithm>
#include <array>
#include <span>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/window_geometry.h>

namespace hesscope::onnx {
namespace {

// A pool's windows and the axes of its result.
struct Pool {
  Value x;
  std::vector<SlidingAxis> axes = {};
  Axes result = {};
};

Pool pool_of(const OperatorCall& call) {
  Pool pool{.x = call.real(0)};
  require_spatial(call, pool.x, "pools over");
  if (!call.has_attribute("kernel_shape")) call.refuse("has no kernel_shape");
  const auto kernel =
      spatial_list(call, "kernel_shape", "kernel_shape", pool.x.axes.size() - 2, 1, 1);
  pool.axes = sliding_axes(call, pool.x, kernel);
  place_windows(call, call.integer("ceil_mode", 0) != 0, pool.axes);
  pool.result = {pool.x.axes[0], pool.x.axes[1]};
  for (const SlidingAxis& axis : pool.axes) pool.result.push_back({.size = axis.places});
  call.checked_size(pool.result);
  return pool;
}

// The windows as rows of a matrix.
Var rows_of(const OperatorCall& call, const Pool& pool, Movement movement) {
  const std::int64_t cols = count_of(pool.axes, &SlidingAxis::kernel);
  return matrix(moved(call, pool.x, std::move(movement)), size_of(pool.result), cols);
}

[[noreturn]] void refuse_empty_window(const OperatorCall& call) {
  call.refuse("a window lies in the padding alone: the pads are too large for the kernel");
}

Values lower_max_pool(const OperatorCall& call) {
  const Pool pool = pool_of(call);
  Movement movement = window_movement(call, pool.x, pool.axes, WindowOrder::kPlacesFirst);
  // Padding never wins: the window's first entry replaces it.
  const std::int64_t cols = count_of(pool.axes, &SlidingAxis::kernel);
  for (auto row = movement.table.begin(); row != movement.table.end(); row += cols) {
    const auto first = std::find_if(row, row + cols, [](std::int32_t from) { return from >= 0; });
    if (first == row + cols) refuse_empty_window(call);
    std::replace(row, row + cols, -1, *first);
  }
  return {call.result(max_rows(rows_of(call, pool, std::move(movement))), pool.result)};
}

// How many entries of each window along an axis count: those of the tensor, or also of its padding.
std::vector<std::int64_t> counts_along(const SlidingAxis& axis, bool with_pads) {
  const std::int64_t begin = with_pads ? -axis.pad_begin : 0;
  const std::int64_t end = axis.length + (with_pads ? axis.pad_end : 0);
  std::vector<std::int64_t> counts;
  for (std::int64_t place = 0; place < axis.places; ++place) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t at = axis.position(place, k);
      if (at >= begin && at < end) ++count;
    }
    counts.push_back(count);
  }
  return counts;
}

// The number of entries over which each window of a channel is averaged.
std::vector<double> counts_of(const OperatorCall& call, std::span<const SlidingAxis> axes) {
  const bool with_pads = call.integer("count_include_pad", 0) != 0;
  std::vector<std::int64_t> counts = {1};
  for (const SlidingAxis& axis : axes) {
    std::vector<std::int64_t> products;
    const std::vector<std::int64_t> along = counts_along(axis, with_pads);
    for (const std::int64_t count : counts) {
      for (const std::int64_t factor : along) products.push_back(count * factor);
    }
    counts = std::move(products);
  }
  if (std::ranges::count(counts, 0) > 0) refuse_empty_window(call);
  return {counts.begin(), counts.end()};
}

Values lower_average_pool(const OperatorCall& call) {
  const Pool pool = pool_of(call);
  const Var sums = sum_rows(
      rows_of(call, pool, window_movement(call, pool.x, pool.axes, WindowOrder::kPlacesFirst)));
  const std::vector<double> counts = counts_of(call, pool.axes);
  const auto places = static_cast<Eigen::Index>(counts.size());
  const Var by_channel = reshape(sums, sums.rows() / places, places);
  const bool all_alike = std::ranges::count(counts, counts.front()) == places;
  const Var means = all_alike ? over(by_channel, counts.front())
                              : by_channel / call.graph().constant(counts, 1, places);
  return {call.result(means, pool.result)};
}

double order_of(const OperatorCall& call) { return static_cast<double>(call.integer("p", 2)); }

Values lower_norm_pool(const OperatorCall& call) {
  const Pool pool = pool_of(call);
  const Var windows =
      rows_of(call, pool, window_movement(call, pool.x, pool.axes, WindowOrder::kPlacesFirst));
  return {call.result(norm_rows(call, windows, order_of(call)), pool.result)};
}

// One number for each row of (B C, D1 ... Dd).
template <typename Reduce>
Values global_pool(const OperatorCall& call, Reduce reduce) {
  const Value x = call.real(0);
  require_spatial(call, x, "pools over");
  Axes axes(x.axes.size());
  axes[0] = x.axes[0];
  axes[1] = x.axes[1];
  const std::int64_t rows = size_of(axes);
  return {call.result(reduce(matrix(x, rows, x.size() / rows)), std::move(axes))};
}

Values lower_global_average_pool(const OperatorCall& call) { return global_pool(call, mean_rows); }

Values lower_global_max_pool(const OperatorCall& call) { return global_pool(call, max_rows); }

Values lower_global_norm_pool(const OperatorCall& call) {
  return global_pool(call, [&](Var rows) { return norm_rows(call, rows, order_of(call)); });
}

}  // namespace

std::span<const Operator> pool_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"AveragePool", lower_average_pool},
      {"GlobalAveragePool", lower_global_average_pool, kAllSlopes, 1},
      {"GlobalLpPool", lower_global_norm_pool},
      {"GlobalMaxPool", lower_global_max_pool, kAllSlopes, 1},
      {"LpPool", lower_norm_pool},
      {"MaxPool", of_same_kind<lower_max_pool>},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
