// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of single entries, or of entries at the same place: they keep samples apart wherever
// the batch is, as long as it meets itself (broadcast_axes()).
#include <array>
#include <cmath>

#include <hesscope/core/constants.h>
#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>
#include <hesscope/import/internal/quotients.h>
#include <hesscope/import/internal/sample_numbers.h>

namespace hesscope::onnx {
namespace {

// --- unary ---

template <Elementary kFunction>
Values lower_function(const OperatorCall& call) {
  const Value x = call.real(0);
  return {call.result(elementary(kFunction, *x.var), x.axes)};
}

// f(x) for a composition of graph operations.
template <Var (*kFunction)(const OperatorCall&, Var)>
Values lower_composed(const OperatorCall& call) {
  const Value x = call.real(0);
  return {call.result(kFunction(call, *x.var), x.axes)};
}

Var shifted(const OperatorCall& call, Var x, double shift) { return x + call.constant(shift); }

Var celu(const OperatorCall& call, Var x) {
  const double alpha = call.number("alpha", 1);
  return elementary(Elementary::kElu, x, alpha, alpha);
}

Var elu(const OperatorCall& call, Var x) {
  return elementary(Elementary::kElu, x, call.number("alpha", 1), 1);
}

// gamma (x if x > 0, else alpha (exp(x) - 1)); the defaults are ONNX's, which are 32-bit numbers.
Var selu(const OperatorCall& call, Var x) {
  const double alpha = call.number("alpha", 1.67326319217681884765625);
  const double gamma = call.number("gamma", 1.05070102214813232421875);
  return gamma * elementary(Elementary::kElu, x, alpha, 1);
}

Var leaky_relu(const OperatorCall& call, Var x) {
  return elementary(Elementary::kLeakyRelu, x, call.number("alpha", 0.01));
}

// max(0, min(1, alpha x + beta))
Var clipped_line(const OperatorCall& call, Var x, double alpha, double beta) {
  return elementary(Elementary::kClip, shifted(call, alpha * x, beta), 0, 1);
}

Var hard_sigmoid(const OperatorCall& call, Var x) {
  return clipped_line(call, x, call.number("alpha", 0.2), call.number("beta", 0.5));
}

// x max(0, min(1, x / 6 + 1 / 2))
Var hard_swish(const OperatorCall& call, Var x) {
  return hadamard(x, clipped_line(call, x, 1.0 / 6.0, 0.5));
}

Var mish(const OperatorCall&, Var x) { return hadamard(x, tanh(softplus(x))); }

Var negative(const OperatorCall&, Var x) { return -x; }

Var logarithm(const OperatorCall&, Var x) { return log(x); }

Var square_root(const OperatorCall&, Var x) { return root_of(x); }

Var zeros_like(Var x) { return less(x, x); }

// x if x > alpha, else 0; NaN for NaN. The attribute has 32 bits.
Var thresholded_relu(const OperatorCall& call, Var x) {
  const Var is_low = less_or_equal(x, call.constant(as_single(call.number("alpha", 1))));
  return select(is_low, zeros_like(x), x);
}

// x + bias if x < -lambd, x - bias if x > lambd, else 0; NaN for NaN.
Var shrink(const OperatorCall& call, Var x) {
  const double bias = call.number("bias", 0);
  if (std::floor(bias) != bias) call.require_no_integers(0, "adds a fraction to");
  const double threshold = as_single(call.number("lambd", 0.5));  // has 32 bits
  const Var is_low = less(x, call.constant(-threshold));
  const Var is_not_high = less_or_equal(x, call.constant(threshold));
  return select(
      is_low, shifted(call, x, bias), select(is_not_high, zeros_like(x), shifted(call, x, -bias)));
}

// x Phi(x), or with approximate = "tanh" x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2 / pi)
// (x + 0.044715 x^3): the second form does not cancel in the left tail.
Var gelu_operator(const OperatorCall& call, Var x) {
  const std::string kind = call.text("approximate", "none");
  if (kind == "none") return gelu(x);
  if (kind != "tanh")
    call.refuse(R"(attribute 'approximate' is "{}"; "none" and "tanh" are known)", kind);
  constexpr double kTwiceRoot = 1.59576912160573071175978423974;  // 2 sqrt(2 / pi)
  return hadamard(x, sigmoid(kTwiceRoot * (x + 0.044715 * power(x, 3))));
}

// 1 if x is not a number, else 0.
Var is_nan(const OperatorCall& call, Var x) { return call.constant(1.0) - equal(x, x); }

Values lower_is_nan(const OperatorCall& call) {
  const Value x = call.real(0);
  return {call.result(is_nan(call, *x.var), x.axes, ElementKind::kBoolean)};
}

Values lower_is_inf(const OperatorCall& call) {
  const Value x = call.real(0);
  Var found = 0.0 * less(*x.var, *x.var);
  if (call.integer("detect_positive", 1) != 0)
    found = found + equal(*x.var, call.constant(kInfinity));
  if (call.integer("detect_negative", 1) != 0)
    found = found + equal(*x.var, call.constant(-kInfinity));
  return {call.result(found, x.axes, ElementKind::kBoolean)};
}

// Dropout in evaluation mode: x itself.
Values lower_dropout(const OperatorCall& call) {
  std::optional<double> is_training = 0;
  if (call.opset() < 7) is_training = call.integer("is_test", 0) == 0 ? 1 : 0;
  if (call.has_entries(2)) is_training = call.single_number(call.input(2));
  const auto ratio = call.has_entries(1) ? call.single_number(call.input(1))
                                         : std::optional(call.number("ratio", 0.5));
  const bool is_identity = (is_training && *is_training == 0) || (ratio && *ratio == 0);
  if (!is_identity) {
    call.refuse("drops out at random (training_mode): export the model in evaluation mode");
  }
  const Value& x = call.input(0);
  if (call.num_outputs() < 2 || call.node().outputs[1].empty()) return {x};
  Integers kept{.base = std::vector<std::int64_t>(static_cast<std::size_t>(x.size()), 1)};
  return {x, call.known_result(std::move(kept), x.axes, ElementKind::kBoolean)};
}

// --- binary and more ---

Var add(Var a, Var b) { return a + b; }

Var subtract(Var a, Var b) { return a - b; }

Var divide(Var a, Var b) { return a / b; }

// function(call, a, b) for two tensors, broadcast to one shape.
Value with_operands(const OperatorCall& call,
                    const Value& a,
                    const Value& b,
                    Var (*function)(const OperatorCall&, Var, Var)) {
  const Value x = call.real(a);
  const Value y = call.real(b);
  Axes axes = broadcast_axes(call, x.axes, y.axes);
  const Operands o = elementwise_operands(call, x, y, axes);
  return call.result(function(call, o.a, o.b), std::move(axes));
}

template <Combination kCombine, IntegerFunction kOfIntegers>
Values lower_binary(const OperatorCall& call) {
  const auto counting = [&](Value result) -> Values {
    return {
        with_sample_numbers(call, std::move(result), call.input(0), call.input(1), kOfIntegers)};
  };
  if (call.input(0).is_known() && call.input(1).is_known()) {
    return counting(of_integers(call, call.input(0), call.input(1), kOfIntegers));
  }
  // For integers the result is an integer, however intermediate results are rounded.
  if (kOfIntegers == IntegerFunction::kDivide && call.input(0).kind == ElementKind::kInteger) {
    return {with_operands(call, call.input(0), second_operand(call), whole_quotient)};
  }
  if (kOfIntegers == IntegerFunction::kMultiply) {
    if (const auto product = times_batch(call, call.input(0), call.input(1))) return {*product};
  }
  return counting(combined(call, call.input(0), second_operand(call), kCombine));
}

template <Combination kCombine>
Values lower_fold(const OperatorCall& call) {
  Value total = call.real(0);
  for (std::size_t i = 1; i < call.num_inputs(); ++i) {
    total = combined(call, total, call.input(i), kCombine);
  }
  return {total};
}

Values lower_mean(const OperatorCall& call) {
  Value total = lower_fold<add>(call).front();
  const auto count = static_cast<double>(call.num_inputs());
  return {call.result(over(*total.var, count), total.axes)};
}

// The larger of two numbers (the first if they are equal), computed from rows of two.
Value larger(const OperatorCall& call, const Value& left, const Value& right) {
  const Value a = call.real(left);
  const Value b = call.real(right);
  Axes axes = broadcast_axes(call, a.axes, b.axes);
  const Value x = expanded(call, a, axes);
  const Value y = expanded(call, b, axes);
  const auto size = static_cast<std::int32_t>(size_of(axes));
  std::vector<std::int32_t> pairs;
  for (std::int32_t e = 0; e < size; ++e) {
    pairs.push_back(e);
    pairs.push_back(size + e);
  }
  return call.result(max_rows(gather(*x.var, *y.var, pairs, size, 2)), std::move(axes));
}

Value opposite(const OperatorCall& call, const Value& value) {
  const Value x = call.real(value);
  return call.result(-*x.var, x.axes);
}

template <bool kIsMaximum>
Values lower_extreme(const OperatorCall& call) {
  const bool is_known = [&] {
    for (std::size_t i = 0; i < call.num_inputs(); ++i) {
      if (!call.input(i).is_known()) return false;
    }
    return true;
  }();
  Value best = call.input(0);
  if (is_known) {
    for (std::size_t i = 1; i < call.num_inputs(); ++i) {
      best = of_integers(call,
                         best,
                         call.input(i),
                         kIsMaximum ? IntegerFunction::kMaximum : IntegerFunction::kMinimum);
    }
    return {best};
  }
  if (call.num_inputs() == 1) return {best};
  if (!kIsMaximum) best = opposite(call, best);
  for (std::size_t i = 1; i < call.num_inputs(); ++i) {
    best = larger(call, best, kIsMaximum ? call.input(i) : opposite(call, call.input(i)));
  }
  return {kIsMaximum ? best : opposite(call, best)};
}

// min(max(x, lowest), highest), where either bound may be omitted: everything is `highest` if that
// is below `lowest`, and NaN if a bound is NaN.
Values lower_clip(const OperatorCall& call) {
  const auto bound = [&](const char* attribute, std::size_t i) -> std::optional<Value> {
    if (call.has_attribute(attribute)) {
      return call.result(call.constant(call.number(attribute, 0)), {});
    }
    if (!call.has_entries(i)) return std::nullopt;
    return call.input(i);
  };
  const std::optional<Value> lowest = bound("min", 1);
  const std::optional<Value> highest = bound("max", 2);
  const Value& x = call.input(0);
  if (x.is_known()) {
    Value clipped = x;
    if (lowest) clipped = of_integers(call, clipped, *lowest, IntegerFunction::kMaximum);
    if (highest) clipped = of_integers(call, clipped, *highest, IntegerFunction::kMinimum);
    return {clipped};
  }
  const auto low = lowest ? call.single_number(*lowest) : -kInfinity;
  const auto high = highest ? call.single_number(*highest) : kInfinity;
  if (low && high && *low <= *high) {
    return {call.result(elementary(Elementary::kClip, *x.var, *low, *high), x.axes)};
  }
  Value clipped = x;
  if (lowest) clipped = larger(call, clipped, *lowest);
  if (highest) {
    clipped = opposite(call, larger(call, opposite(call, clipped), opposite(call, *highest)));
  }
  return {clipped};
}

// x if x > 0, else slope x, also at 0.
Values lower_prelu(const OperatorCall& call) {
  const Value x = call.real(0);
  Value slope = call.real(1);
  if (call.opset() < 7 && slope.rank() == 1 && slope.size() > 1 && x.rank() > 1) {
    // Before opset 7, one for each channel.
    slope.axes.insert(slope.axes.end(), static_cast<std::size_t>(x.rank() - 2), Axis{});
  }
  const Axes axes = broadcast_axes(call, x.axes, slope.axes);
  if (axes != x.axes) call.refuse("the slope {} does not fit {}", text(slope.axes), text(x.axes));
  const Operands operands = elementwise_operands(call, x, slope, axes);
  const Var is_positive = less(call.constant(0.0), operands.a);
  return {call.result(select(is_positive, operands.a, hadamard(operands.b, operands.a)), axes)};
}

// --- numbers and integers ---

// Remainders have the slope of a sawtooth.
Values lower_mod(const OperatorCall& call) {
  const bool is_c = call.integer("fmod", 0) != 0;
  const Value& dividend = call.input(0);
  const Value& divisor = call.input(1);
  if (dividend.is_known() && divisor.is_known()) {
    return {of_integers(
        call, dividend, divisor, is_c ? IntegerFunction::kRemainder : IntegerFunction::kModulus)};
  }
  const Value x = call.real(dividend);
  const Value y = call.real(divisor);
  Axes axes = broadcast_axes(call, x.axes, y.axes);
  const std::int64_t size = call.checked_size(axes);
  const Var a = matrix(expanded(call, x, axes), size, 1);
  const Var b = matrix(expanded(call, y, axes), size, 1);
  const bool is_whole =
      dividend.kind == ElementKind::kInteger && divisor.kind == ElementKind::kInteger;
  const Var remainder = is_whole ? integer_remainder(call, a, b) : real_remainder(call, a, b);
  return {call.result(is_c ? remainder : modulus_of(call, remainder, b), std::move(axes))};
}

template <Elementary kFunction, IntegerFunction kOfIntegers>
Values lower_sign(const OperatorCall& call) {
  if (!call.input(0).is_known()) return lower_function<kFunction>(call);
  return {of_integers(call, call.input(0), kOfIntegers)};
}

Values lower_negative(const OperatorCall& call) {
  if (!call.input(0).is_known()) return lower_composed<negative>(call);
  return {of_integers(call, call.input(0), IntegerFunction::kNegative)};
}

}  // namespace

std::span<const Operator> elementwise_operators() {
  static constexpr auto kElementwiseOperators = std::to_array<Operator>({
      {"Abs", of_same_kind<lower_sign<Elementary::kAbs, IntegerFunction::kAbsolute>>},
      {"Acos", lower_function<Elementary::kAcos>, kAllSlopes, 7},
      {"Acosh", lower_function<Elementary::kAcosh>, kAllSlopes, 9},
      {"Add", of_same_kind<lower_binary<add, IntegerFunction::kAdd>>},
      {"Asin", lower_function<Elementary::kAsin>, kAllSlopes, 7},
      {"Asinh", lower_function<Elementary::kAsinh>, kAllSlopes, 9},
      {"Atan", lower_function<Elementary::kAtan>, kAllSlopes, 7},
      {"Atanh", lower_function<Elementary::kAtanh>, kAllSlopes, 9},
      {"Ceil", lower_function<Elementary::kCeil>, kAllSlopes, 6, kJumps},
      {"Celu", lower_composed<celu>, kAllSlopes, 12},
      {"Clip", of_same_kind<lower_clip>},
      {"Cos", lower_function<Elementary::kCos>, kAllSlopes, 7},
      {"Cosh", lower_function<Elementary::kCosh>, kAllSlopes, 9},
      {"Div", of_same_kind<lower_binary<divide, IntegerFunction::kDivide>>},
      {"Dropout", lower_dropout, kSlopeOfFirst},
      {"Elu", lower_composed<elu>},
      {"Erf", lower_function<Elementary::kErf>, kAllSlopes, 9},
      {"Exp", lower_function<Elementary::kExp>},
      {"Floor", lower_function<Elementary::kFloor>, kAllSlopes, 6, kJumps},
      {"Gelu", lower_composed<gelu_operator>, kAllSlopes, 20},
      {"HardSigmoid", lower_composed<hard_sigmoid>},
      {"HardSwish", lower_composed<hard_swish>, kAllSlopes, 14},
      {"IsInf", lower_is_inf, kNoSlope, 10},
      {"IsNaN", lower_is_nan, kNoSlope, 9},
      {"LeakyRelu", lower_composed<leaky_relu>},
      {"Log", lower_composed<logarithm>},
      {"Max", of_same_kind<lower_extreme<true>>},
      {"Mean", lower_mean},
      {"Min", of_same_kind<lower_extreme<false>>},
      {"Mish", lower_composed<mish>, kAllSlopes, 18},
      {"Mod", of_same_kind<lower_mod>, kAllSlopes, 10, kJumps},
      {"Mul", of_same_kind<lower_binary<hadamard, IntegerFunction::kMultiply>>},
      {"Neg", of_same_kind<lower_negative>},
      {"PRelu", of_same_kind<lower_prelu>},
      {"Reciprocal", lower_function<Elementary::kReciprocal>},
      {"Relu", of_same_kind<lower_function<Elementary::kRelu>>},
      {"Round", lower_function<Elementary::kRound>, kAllSlopes, 11, kJumps},
      {"Selu", lower_composed<selu>},
      {"Shrink", of_same_kind<lower_composed<shrink>>, kAllSlopes, 9, kJumps},
      {"Sigmoid", lower_function<Elementary::kSigmoid>},
      {"Sign", of_same_kind<lower_sign<Elementary::kSign, IntegerFunction::kSign>>, kAllSlopes, 9},
      {"Sin", lower_function<Elementary::kSin>, kAllSlopes, 7},
      {"Sinh", lower_function<Elementary::kSinh>, kAllSlopes, 9},
      {"Softplus", lower_function<Elementary::kSoftplus>, kAllSlopes, 1},
      {"Softsign", lower_function<Elementary::kSoftsign>, kAllSlopes, 1},
      {"Sqrt", lower_composed<square_root>},
      {"Sub", of_same_kind<lower_binary<subtract, IntegerFunction::kSubtract>>},
      {"Sum", of_same_kind<lower_fold<add>>},
      {"Tan", lower_function<Elementary::kTan>, kAllSlopes, 7},
      {"Tanh", lower_function<Elementary::kTanh>},
      {"ThresholdedRelu", lower_composed<thresholded_relu>, kAllSlopes, 10, kJumps},
  });
  return kElementwiseOperators;
}

}  // namespace hesscope::onnx
