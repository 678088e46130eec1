// SPDX-License-Identifier: BSD-3-Clause
//
// Operators that move entries and compute none, written once for known integers, constants and
// numbers on the graph: each is a table of where the entries of its result come from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// Entry e of the result is entry table[e] of the inputs, one behind the other, row by row and for
/// one sample; the fill where that is -1.
struct Movement {
  Axes axes;  ///< of the result
  std::vector<std::int32_t> table;
  double fill = 0;
};

/// The tensors moved so. Known integers stay known if all inputs are; what has no entries is known,
/// too.
Value moved(const OperatorCall& call, std::span<const Value> inputs, Movement movement);

/// The same of one.
Value moved(const OperatorCall& call, const Value& input, Movement movement);

/// The same entries in the same order, with other axes.
Value with_axes(const OperatorCall& call, const Value& value, Axes axes);

/// A table of size_of(axes) entries; source(position) with the result's position by axis.
std::vector<std::int32_t> table_of(
    const OperatorCall& call,
    const Axes& axes,
    const std::function<std::int64_t(std::span<const std::int64_t> position)>& source);

/// Row-major strides of a tensor of these axes, for one sample.
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

/// Of each axis a range; that of the batch must be whole.
Value sliced(const OperatorCall& call, const Value& value, const std::vector<Range>& ranges);

/// Tensors of these lengths along an axis, which they make up. Refuses others, and the batch.
std::vector<Value> parts_along(const OperatorCall& call,
                               const Value& value,
                               int axis,
                               std::span<const std::int64_t> lengths);

/// Tensors one behind the other along `axis`, from the front or, negative, from the end; in this
/// alone their lengths may differ. Refuses shapes that do not fit, and the batch as the axis.
Value joined(const OperatorCall& call, std::span<const Value> parts, std::int64_t axis);

/// Tensors of one shape along a new axis, `axis` of the result.
Value stacked(const OperatorCall& call, std::span<const Value> parts, std::int64_t axis);

/// Without an axis, which must be of length one and not the batch.
Value without_axis(const OperatorCall& call, const Value& value, int axis);

/// Entry `index` of an axis, which is not there any more. Refuses the batch.
Value entry_of_axis(const OperatorCall& call, const Value& value, int axis, std::int64_t index);

/// All axes but `last` in their order, then those of `last` in theirs.
std::vector<int> order_with_last(int rank, std::span<const int> last);

/// The order that undoes another.
std::vector<int> inverse_order(const std::vector<int>& order);

/// The axes that two tensors broadcast to. Refuses shapes that do not fit, and those that would let
/// samples meet: the batch meets itself at the same place, or a length of one.
Axes broadcast_axes(const OperatorCall& call, const Axes& a, const Axes& b);

/// The tensor repeated along axes of length one to reach `axes`.
Value expanded(const OperatorCall& call, const Value& value, const Axes& axes);

/// A tensor as a matrix on the graph.
Var matrix(const Value& value, std::int64_t rows, std::int64_t cols);

/// Two tensors as matrices that an elementwise operation of the graph takes, spread to `axes`.
struct Operands {
  Var a;
  Var b;
};

Operands elementwise_operands(const OperatorCall& call,
                              const Value& a,
                              const Value& b,
                              const Axes& axes);

}  // namespace hesscope::onnx
