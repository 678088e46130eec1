// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions over some axes of a tensor: never over the batch, except for the mean or sum that
// forms a loss.
#include <algorithm>
#include <array>
#include <numeric>

#include <hesscope/import/internal/batch_totals.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/quotients.h>

namespace hesscope::onnx {
namespace {

// The axes of a tensor after a reduction.
struct ReducedAxes {
  Axes kept;                ///< without the reduced axes
  Axes ones;                ///< with them as lengths of one
  std::int64_t length = 1;  ///< entries combined to one

  ReducedAxes(const Axes& axes, const std::vector<int>& reduced) : ones(axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (std::ranges::find(reduced, static_cast<int>(i)) == reduced.end()) {
        kept.push_back(axes[i]);
      } else {
        ones[i] = {};
        length *= axes[i].size;
      }
    }
  }
};

// A tensor with the reduced axes last: a row for each entry of the result.
Var rows_over(const OperatorCall& call,
              const Value& x,
              const std::vector<int>& reduced,
              std::int64_t length) {
  for (const int axis : reduced) call.require_no_batch(x, axis, "reduces");
  const Value ordered = transposed(call, x, order_with_last(x.rank(), reduced));
  return matrix(ordered, x.size() / length, length);
}

// The reduced axes in ascending order. If none are named, all or, with noop_with_empty_axes, none:
// sums then have one term each, and the function of the terms is still applied.
std::vector<int> reduced_axes(const OperatorCall& call, const Value& x) {
  auto list = call.list("axes", 1);
  if (list && list->empty()) list.reset();
  if (!list) {
    if (call.integer("noop_with_empty_axes", 0) != 0) return {};
    std::vector<int> all(static_cast<std::size_t>(x.rank()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<int> axes = call.axes(*list, x.rank());
  std::ranges::sort(axes);
  return axes;
}

using OfRows = Var (*)(Var);

Var sum_of_magnitudes(Var a) { return sum_rows(abs(a)); }

Var length_of(Var a) { return root_of_squares(sum_rows(square(a))); }

Var sum_of_squares(Var a) { return sum_rows(square(a)); }

Var log_of_sum(Var a) { return log(sum_rows(a)); }

// For known integers, such as sizes: combined one by one.
Value of_known(const OperatorCall& call,
               const Value& x,
               const std::vector<int>& reduced,
               IntegerFunction function,
               bool keeps) {
  const Value ordered = transposed(call, x, order_with_last(x.rank(), reduced));
  const ReducedAxes shape(x.axes, reduced);
  const Axes& kept = shape.kept;
  const std::int64_t length = shape.length;
  if (length < 1) call.refuse("reduces no entries");
  const auto count = static_cast<std::size_t>(size_of(kept));
  const auto part = [&](std::int64_t k) {
    Integers some;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t e = r * static_cast<std::size_t>(length) + static_cast<std::size_t>(k);
      some.base.push_back(ordered.integers->base[e]);
      some.per_sample.push_back(ordered.integers->slope(e));
    }
    return call.known_result(std::move(some), kept, x.kind);
  };
  Value total = part(0);
  for (std::int64_t k = 1; k < length; ++k) total = of_integers(call, total, part(k), function);
  if (keeps) total.axes = shape.ones;
  return total;
}

// How integers are combined; nothing if the result would not be an integer.
constexpr std::optional<IntegerFunction> integer_function(OfRows of_rows) {
  const bool is_sum =
      of_rows == sum_rows || of_rows == sum_of_magnitudes || of_rows == sum_of_squares;
  if (is_sum) return IntegerFunction::kAdd;
  if (of_rows == product_rows) return IntegerFunction::kMultiply;
  if (of_rows == max_rows) return IntegerFunction::kMaximum;
  if (of_rows == min_rows) return IntegerFunction::kMinimum;
  return std::nullopt;
}

// The term for each known integer.
Value term_of(const OperatorCall& call, const Value& x, OfRows of_rows) {
  if (of_rows == sum_of_magnitudes) return of_integers(call, x, IntegerFunction::kAbsolute);
  if (of_rows == sum_of_squares) return of_integers(call, x, x, IntegerFunction::kMultiply);
  return x;
}

template <OfRows kOfRows>
Values lower_reduce(const OperatorCall& call) {
  const Value& input = call.input(0);
  const std::vector<int> axes = reduced_axes(call, input);
  const bool keeps = call.integer("keepdims", 1) != 0;
  const auto function = integer_function(kOfRows);
  if (!function) call.require_no_integers(0, "reduces");
  if (function && input.is_known()) {
    for (const int axis : axes) call.require_no_batch(input, axis, "reduces");
    return {of_known(call, term_of(call, input, kOfRows), axes, *function, keeps)};
  }
  const Value x = call.real(input);
  const ReducedAxes shape(x.axes, axes);
  return {call.result(kOfRows(rows_over(call, x, axes, shape.length)),
                      keeps ? shape.ones : shape.kept)};
}

bool has_batch_among(const Value& x, const std::vector<int>& axes) {
  return std::ranges::find(axes, batch_axis(x.axes)) != axes.end();
}

// Over the batch and other axes: for one sample, the mean or sum over the others.
template <OfRows kOfRows>
Value total_over_batch(const OperatorCall& call,
                       Value x,
                       const std::vector<int>& axes,
                       BatchTotal::Kind kind) {
  for (const int axis : axes) {
    Axis& along = x.axes[static_cast<std::size_t>(axis)];
    along = {.size = along.size};
  }
  const ReducedAxes shape(x.axes, axes);
  const bool keeps = call.integer("keepdims", 1) != 0;
  Value total =
      call.result(kOfRows(rows_over(call, x, axes, shape.length)), keeps ? shape.ones : shape.kept);
  total.batch_total = own_batch_total(call, kind);
  return total;
}

Values lower_reduce_sum(const OperatorCall& call) {
  const Value& input = call.input(0);
  const std::vector<int> axes = reduced_axes(call, input);
  const bool is_total = input.kind == ElementKind::kReal && has_batch_among(input, axes);
  if (!is_total) return lower_reduce<sum_rows>(call);
  return {total_over_batch<sum_rows>(call, call.real(input), axes, BatchTotal::Kind::kSum)};
}

// Integers are rounded towards 0, as in Div.
Values lower_reduce_mean(const OperatorCall& call) {
  const Value& input = call.input(0);
  const std::vector<int> axes = reduced_axes(call, input);
  if (input.kind != ElementKind::kInteger) {
    if (!has_batch_among(input, axes)) return lower_reduce<mean_rows>(call);
    return {total_over_batch<mean_rows>(call, call.real(input), axes, BatchTotal::Kind::kMean)};
  }
  const Value sum = lower_reduce<sum_rows>(call).front();
  const std::int64_t length = ReducedAxes(input.axes, axes).length;
  if (sum.is_known()) {
    const Value count = call.known_result({.base = {length}}, {});
    return {of_integers(call, sum, count, IntegerFunction::kDivide)};
  }
  const Var count = call.constant(static_cast<double>(length));
  return {call.result(whole_quotient(call, *sum.var, count), sum.axes)};
}

// --- softmax and similar ---

Var log_softmax_rows(Var a) { return a - log_sum_exp_rows(a); }

// 1 at the (first) largest entry of each row, 0 elsewhere.
Var hardmax_rows(Var a) {
  const Var is_largest = equal(a, max_rows(a));
  // Among equal entries the first is taken: places count down along a row.
  const Eigen::Index n = a.cols();
  const Eigen::RowVectorXd places = Eigen::RowVectorXd::LinSpaced(n, static_cast<double>(n), 1.0);
  const Var left = hadamard(is_largest, a.graph().constant(places));
  return hadamard(is_largest, equal(left, max_rows(left)));
}

// Along one axis; before opset 13 along all axes from the named one on, as in a matrix.
template <OfRows kOfRows>
Values lower_along(const OperatorCall& call) {
  const Value x = call.real(0);
  const bool is_matrix = call.opset() < 13;
  const int axis = call.axis(call.integer("axis", is_matrix ? 1 : -1), x.rank());
  std::vector<int> along = {axis};
  for (int i = axis + 1; is_matrix && i < x.rank(); ++i) along.push_back(i);
  std::int64_t length = 1;
  for (const int i : along) {
    call.require_no_batch(x, i, "is taken along");
    length *= x.axes[static_cast<std::size_t>(i)].size;
  }
  const std::vector<int> order = order_with_last(x.rank(), along);
  const Value ordered = transposed(call, x, order);
  const Var rows = matrix(ordered, x.size() / length, length);
  const Value result = call.result(kOfRows(rows), ordered.axes);
  return {transposed(call, result, inverse_order(order))};
}

}  // namespace

std::span<const Operator> reduction_operators() {
  static constexpr auto kReductionOperators = std::to_array<Operator>({
      {"Hardmax", lower_along<hardmax_rows>, kNoSlope},
      {"LogSoftmax", lower_along<log_softmax_rows>},
      {"ReduceL1", of_same_kind<lower_reduce<sum_of_magnitudes>>, kSlopeOfFirst},
      {"ReduceL2", lower_reduce<length_of>, kSlopeOfFirst},
      {"ReduceLogSum", lower_reduce<log_of_sum>, kSlopeOfFirst},
      {"ReduceLogSumExp", lower_reduce<log_sum_exp_rows>, kSlopeOfFirst},
      {"ReduceMax", of_same_kind<lower_reduce<max_rows>>, kSlopeOfFirst},
      {"ReduceMean", of_same_kind<lower_reduce_mean>, kSlopeOfFirst},
      {"ReduceMin", of_same_kind<lower_reduce<min_rows>>, kSlopeOfFirst},
      {"ReduceProd", of_same_kind<lower_reduce<product_rows>>, kSlopeOfFirst},
      {"ReduceSum", of_same_kind<lower_reduce_sum>, kSlopeOfFirst},
      {"ReduceSumSquare", of_same_kind<lower_reduce<sum_of_squares>>, kSlopeOfFirst},
      {"Softmax", lower_along<softmax_rows>},
  });
  return kReductionOperators;
}

}  // namespace hesscope::onnx
