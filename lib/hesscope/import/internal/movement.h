// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that move entries without computing any, written once for known integers, constants and
// numbers on the graph: each is a table with the sources of the entries of its result.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Entry e of the result is entry table[e] of the inputs, counted for one sample, row by row, one
/// input after the other; it is the fill value if table[e] is -1.
struct Movement {
  Axes axes;  ///< of the result
  std::vector<std::int32_t> table;
  double fill = 0;
};

/// Applies the movement to tensors. Known integers stay known if all inputs are; a tensor without
/// entries counts as known, too.
Value moved(const OperatorCall& call, std::span<const Value> inputs, Movement movement);

/// The same for one tensor.
Value moved(const OperatorCall& call, const Value& input, Movement movement);

/// The same entries in the same order, with other axes.
Value with_axes(const OperatorCall& call, const Value& value, Axes axes);

/// A table of size_of(axes) entries; source() is called with the position of the result by axis.
std::vector<std::int32_t> table_of(
    const OperatorCall& call,
    const Axes& axes,
    const std::function<std::int64_t(std::span<const std::int64_t> position)>& source);

/// Row-major strides of a tensor with these axes, for one sample.
std::vector<std::int64_t> strides_of(const Axes& axes);

/// Axis i of the result is axis order[i] of the input.
Value transposed(const OperatorCall& call, const Value& value, const std::vector<int>& order);

/// Entries start, start + step, ... of one axis.
struct Range {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// All entries of each axis.
std::vector<Range> whole_ranges(const Value& value);

/// A range for each axis; that of the batch must be whole.
Value sliced(const OperatorCall& call, const Value& value, const std::vector<Range>& ranges);

/// Splits a tensor into tensors of these lengths along an axis, which must add up to its length.
/// Refuses other lengths, and the batch.
std::vector<Value> parts_along(const OperatorCall& call,
                               const Value& value,
                               int axis,
                               std::span<const std::int64_t> lengths);

/// Concatenates tensors along `axis`, counted from the front or, if negative, from the end; only in
/// this axis may their lengths differ. Refuses shapes that do not fit, and the batch as the axis.
Value joined(const OperatorCall& call, std::span<const Value> parts, std::int64_t axis);

/// Stacks tensors of one shape along a new axis, `axis` of the result.
Value stacked(const OperatorCall& call, std::span<const Value> parts, std::int64_t axis);

/// Removes an axis, which must have length one and not be the batch.
Value without_axis(const OperatorCall& call, const Value& value, int axis);

/// Entry `index` of an axis, which is thereby removed. Refuses the batch.
Value entry_of_axis(const OperatorCall& call, const Value& value, int axis, std::int64_t index);

/// All axes except `last` in their order, followed by `last` in the given order.
std::vector<int> order_with_last(int rank, std::span<const int> last);

/// The inverse of an order of axes.
std::vector<int> inverse_order(const std::vector<int>& order);

/// The axes to which two tensors are broadcast. Refuses shapes that do not fit, and shapes that
/// would let samples meet: the batch may only meet itself at the same place, or a length of one.
Axes broadcast_axes(const OperatorCall& call, const Axes& a, const Axes& b);

/// The tensor repeated along axes of length one so that it has `axes`.
Value expanded(const OperatorCall& call, const Value& value, const Axes& axes);

/// A tensor as a matrix on the graph.
Var matrix(const Value& value, std::int64_t rows, std::int64_t cols);

/// Two tensors as matrices for an elementwise operation of the graph, broadcast to `axes`.
struct Operands {
  Var a;
  Var b;
};

Operands elementwise_operands(const OperatorCall& call,
                              const Value& a,
                              const Value& b,
                              const Axes& axes);

}  // namespace hesscope::onnx
