// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/movement.h>

namespace hesscope::onnx {
Value second_operand(const OperatorCall& call) {
  Value b = call.input(1);
  if (call.opset() >= 7 || !call.has_attribute("axis")) return b;
  const int rank = call.input(0).rank();
  const int end = call.axis(call.integer("axis", 0), rank) + b.rank();
  if (end > rank) call.refuse("its second tensor {} does not fit", text(b.axes));
  b.axes.insert(b.axes.end(), static_cast<std::size_t>(rank - end), Axis{});
  return b;
}

Value combined(const OperatorCall& call, const Value& a, const Value& b, Combination operation) {
  const Value x = call.real(a);
  const Value y = call.real(b);
  Axes axes = broadcast_axes(call, x.axes, y.axes);
  const Operands operands = elementwise_operands(call, x, y, axes);
  return call.result(operation(operands.a, operands.b), std::move(axes));
}

Value plus(const OperatorCall& call, const Value& a, const Value& b) {
  return combined(call, a, b, [](Var x, Var y) { return x + y; });
}

Value minus(const OperatorCall& call, const Value& a, const Value& b) {
  return combined(call, a, b, [](Var x, Var y) { return x - y; });
}

Value times(const OperatorCall& call, const Value& a, const Value& b) {
  return combined(call, a, b, [](Var x, Var y) { return hadamard(x, y); });
}

Var less_or_equal(Var a, Var b) { return less(a, b) + equal(a, b); }

Var over(Var a, double number) { return a / a.graph().constant(std::span(&number, 1), 1, 1); }

Var mean_rows(Var a) { return over(sum_rows(a), static_cast<double>(a.cols())); }

Var root_of_squares(Var sums) {
  const auto number = [&](double x) { return sums.graph().constant(std::span(&x, 1), 1, 1); };
  const Var is_zero = equal(sums, number(0));
  return hadamard(sqrt(sums + is_zero), number(1) - is_zero);
}

Var root_of(Var a) {
  const bool is_norm = detail::GraphPatterns(a.graph()).is_sum_of_squares(a.node());
  return is_norm ? root_of_squares(a) : sqrt(a);
}

Var min_rows(Var a) { return -max_rows(-a); }

Var product_rows(Var a) {
  while (a.cols() > 1) {
    const Eigen::Index half = a.cols() / 2;
    const Var front = slice(a, 0, 0, a.rows(), half);
    const Var back = slice(a, 0, half, a.rows(), half);
    const Var both = hadamard(front, back);
    if (a.cols() % 2 == 0) {
      a = both;
      continue;
    }
    const Var last = slice(a, 0, a.cols() - 1, a.rows(), 1);
    a = embed(both, 0, 0, a.rows(), half + 1) + embed(last, 0, half, a.rows(), half + 1);
  }
  return a;
}

Var norm_rows(const OperatorCall& call, Var a, double p) {
  if (!(p >= 1)) call.refuse("p = {} is no order of a norm", p);
  if (p == 1) return sum_rows(abs(a));
  if (p == 2) return sqrt(sum_rows(square(a)));
  const bool is_even = std::fmod(p, 2) == 0;
  return power(sum_rows(power(is_even ? a : abs(a), p)), 1 / p);
}

Value multiplied_along(const OperatorCall& call,
                       const Value& value,
                       int axis,
                       const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  Axes axes = value.axes;
  std::int64_t before = 1;
  std::int64_t after = 1;
  for (int i = 0; i < value.rank(); ++i) {
    if (i != axis) (i < axis ? before : after) *= axes[static_cast<std::size_t>(i)].size;
  }
  axes[static_cast<std::size_t>(axis)].size = matrix.rows();
  call.checked_size(axes);
  const Var factor = call.graph().constant(matrix);
  if (after == 1) {
    return call.result(matmul_nt(onnx::matrix(value, before, matrix.cols()), factor),
                       std::move(axes));
  }
  return call.result(stacked_matmul(factor,
                                    onnx::matrix(value, before * matrix.cols(), after),
                                    {.stack = before, .is_shared_a = true}),
                     std::move(axes));
}

}  // namespace hesscope::onnx
