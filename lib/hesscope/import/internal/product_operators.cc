// SPDX-License-Identifier: BSD-3-Clause
//
// Products of matrices. The batch may be among the stacked axes, or be the rows of the left or the
// columns of the right matrix; it is never summed over, and never meets itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <hesscope/import/internal/einsum_operator.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// A tensor as a stack of matrices.
struct Stack {
  Value value;
  Axes front;  // one matrix for each of their entries
  Axis rows;
  Axis cols;
};

Stack stack_of(const OperatorCall& call, Value value, bool is_left) {
  if (value.rank() == 0) call.refuse("multiplies a number; matrices are expected");
  if (value.rank() == 1) {  // a row on the left, a column on the right
    value.axes.insert(is_left ? value.axes.begin() : value.axes.end(), Axis{});
  }
  Stack stack{value, value.axes, {}, {}};
  stack.cols = stack.front.back();
  stack.front.pop_back();
  stack.rows = stack.front.back();
  stack.front.pop_back();
  return stack;
}

void require_inner(const OperatorCall& call, const Value& a, const Value& b, Axis x, Axis y) {
  if (x.has_batch || y.has_batch) {
    call.refuse("shapes {} and {}: sums over the batch (N), samples would interact",
                text(a.axes),
                text(b.axes));
  }
  if (x.size != y.size) {
    call.refuse("shapes {} and {} do not fit: {} and {} entries are summed over",
                text(a.axes),
                text(b.axes),
                x.size,
                y.size);
  }
}

bool is_single(const Axes& axes) { return size_of(axes) == 1; }

Values lower_matmul(const OperatorCall& call) {
  const Value left = call.real(0);
  const Value right = call.real(1);
  const Stack a = stack_of(call, left, true);
  const Stack b = stack_of(call, right, false);
  require_inner(call, left, right, a.cols, b.rows);
  const Axes front = broadcast_axes(call, a.front, b.front);
  Axes axes = front;
  axes.push_back(a.rows);
  axes.push_back(b.cols);
  if (std::ranges::count_if(axes, &Axis::has_batch) > 1) {
    call.refuse("shapes {} and {}: each sample of the batch (N) would meet all others",
                text(left.axes),
                text(right.axes));
  }
  call.checked_size(axes);
  const std::int64_t stack = size_of(front);
  // One right matrix for all: the left ones are one tall matrix.
  const Var product = [&] {
    const auto whole = [&](const Stack& s) {
      Axes full = front;
      full.push_back(s.rows);
      full.push_back(s.cols);
      return expanded(call, s.value, full);
    };
    if (is_single(b.front)) {
      const std::int64_t rows = size_of(a.front) * a.rows.size;
      return matmul(matrix(a.value, rows, a.cols.size), matrix(b.value, b.rows.size, b.cols.size));
    }
    const bool is_shared = is_single(a.front);
    const Var tall = is_shared ? matrix(a.value, a.rows.size, a.cols.size)
                               : matrix(whole(a), stack * a.rows.size, a.cols.size);
    return stacked_matmul(tall,
                          matrix(whole(b), stack * b.rows.size, b.cols.size),
                          {.stack = stack, .is_shared_a = is_shared});
  }();
  if (right.rank() == 1) axes.pop_back();
  if (left.rank() == 1) axes.erase(axes.end() - (right.rank() == 1 ? 1 : 2));
  return {call.result(product, std::move(axes))};
}

// alpha A' B' + beta C, where A' is A or its transpose.
Values lower_gemm(const OperatorCall& call) {
  const Value a = call.real(0);
  const Value b = call.real(1);
  if (a.rank() != 2 || b.rank() != 2) {
    call.refuse(
        "multiplies shapes {} and {}; two matrices are expected", text(a.axes), text(b.axes));
  }
  const double alpha = call.number("alpha", 1);
  const double beta = call.number("beta", 1);
  if (std::floor(alpha) != alpha || std::floor(beta) != beta) {
    call.require_no_integers(0, "adds fractions of");
  }
  const bool is_transposed_a = call.integer("transA", 0) != 0;
  const bool is_transposed_b = call.integer("transB", 0) != 0;
  require_inner(call, a, b, a.axes[is_transposed_a ? 0 : 1], b.axes[is_transposed_b ? 1 : 0]);
  const Axes axes = {a.axes[is_transposed_a ? 1 : 0], b.axes[is_transposed_b ? 0 : 1]};
  if (axes[0].has_batch && axes[1].has_batch) {
    call.refuse("shapes {} and {}: each sample of the batch (N) would meet all others",
                text(a.axes),
                text(b.axes));
  }
  const StackedProduct how{.transpose_a = is_transposed_a, .transpose_b = is_transposed_b};
  Var product = stacked_matmul(
      matrix(a, a.axes[0].size, a.axes[1].size), matrix(b, b.axes[0].size, b.axes[1].size), how);
  if (alpha != 1) product = alpha * product;
  if (!call.has_entries(2)) return {call.result(product, axes)};
  const Value value = call.result(product, axes);
  const Value c = call.real(2);
  if (broadcast_axes(call, axes, c.axes) != axes) {
    call.refuse("adds {} to {}, which does not fit", text(c.axes), text(axes));
  }
  const Operands sum = elementwise_operands(call, value, c, axes);
  return {call.result(sum.a + (beta == 1 ? sum.b : beta * sum.b), axes)};
}
}  // namespace

std::span<const Operator> product_operators() {
  static constexpr auto kProductOperators = std::to_array<Operator>({
      {"Einsum", of_same_kind<lower_einsum>, kAllSlopes, 12},
      {"Gemm", of_same_kind<lower_gemm>},
      {"MatMul", of_same_kind<lower_matmul>},
  });
  return kProductOperators;
}

}  // namespace hesscope::onnx
