// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/import/internal/integer_arithmetic.h>
#include <hesscope/import/internal/movement.h>

namespace hesscope::onnx {
namespace {

// base + slope N.
struct Entry {
  std::int64_t base = 0;
  std::int64_t slope = 0;
};

[[noreturn]] void refuse_batch(const OperatorCall& call) {
  call.refuse(
      "computes with the number of samples in the batch (N) what depends on it: a sample's result "
      "would depend on how many others there are");
}

std::int64_t plain(const OperatorCall& call, const Entry& entry) {
  if (entry.slope != 0) refuse_batch(call);
  return entry.base;
}

std::int64_t quotient(const OperatorCall& call, std::int64_t a, std::int64_t b) {
  if (b == 0) call.refuse("divides an integer by 0");
  return b == -1 ? checked_product(call, a, -1) : a / b;
}

// Whether a is a multiple of b, which is not 0; INT64_MIN % -1 would overflow.
bool is_multiple(std::int64_t a, std::int64_t b) { return b == -1 || a % b == 0; }

std::int64_t raised(const OperatorCall& call, std::int64_t a, std::int64_t exponent) {
  if (a == 1 || exponent == 0) return 1;
  if (a == -1) return exponent % 2 == 0 ? 1 : -1;
  if (a == 0 && exponent < 0) call.refuse("divides an integer by 0");
  if (a == 0 || exponent < 0) return 0;
  std::int64_t result = 1;
  for (std::int64_t k = 0; k < exponent; ++k) result = checked_product(call, result, a);
  return result;
}

// (a + b N) / (c + d N), exact for every N.
Entry divided(const OperatorCall& call, const Entry& a, const Entry& b) {
  if (a.slope == 0 && b.slope == 0) return {quotient(call, a.base, b.base), 0};
  if (b.slope == 0) {
    if (b.base == 0) call.refuse("divides an integer by 0");
    if (!is_multiple(a.base, b.base) || !is_multiple(a.slope, b.base)) refuse_batch(call);
    return {quotient(call, a.base, b.base), quotient(call, a.slope, b.base)};
  }
  // N cancels if both are multiples of it.
  if (a.base == 0 && b.base == 0 && is_multiple(a.slope, b.slope)) {
    return {quotient(call, a.slope, b.slope), 0};
  }
  refuse_batch(call);
}

// Whether base + slope N > 0: true for all N >= 1, or false for all; refused otherwise.
bool is_positive(const OperatorCall& call, const Entry& x) {
  const std::int64_t at_one = checked_sum(call, x.base, x.slope);
  if (x.slope == 0) return x.base > 0;
  if (x.slope > 0 && at_one > 0) return true;
  if (x.slope < 0 && at_one <= 0) return false;
  refuse_batch(call);
}

// Whether base + slope N >= 0 for all N >= 1 (true), or <= 0 for all (false); refused otherwise.
bool is_at_least_zero(const OperatorCall& call, const Entry& x) {
  const std::int64_t at_one = checked_sum(call, x.base, x.slope);
  if (x.slope >= 0 && at_one >= 0) return true;
  if (x.slope <= 0 && at_one <= 0) return false;
  refuse_batch(call);
}

// Whether base + slope N = 0, for all N (true) or for no N >= 1 (false); refused if it depends on
// N.
bool is_zero(const OperatorCall& call, const Entry& x) {
  if (x.slope == 0) return x.base == 0;
  // N = -base / slope is positive if the signs differ.
  const bool has_root =
      is_multiple(x.base, x.slope) && x.base != 0 && (x.base < 0) != (x.slope < 0);
  if (has_root) refuse_batch(call);
  return false;
}

Entry difference(const OperatorCall& call, const Entry& a, const Entry& b) {
  return {checked_sum(call, a.base, checked_product(call, b.base, -1)),
          checked_sum(call, a.slope, checked_product(call, b.slope, -1))};
}

Entry applied(const OperatorCall& call, const Entry& a, const Entry& b, IntegerFunction function) {
  using F = IntegerFunction;
  const auto truth = [](bool value) { return Entry{value ? 1 : 0, 0}; };
  const auto one = [&](const Entry& x) { return plain(call, x); };
  switch (function) {
    case F::kAdd:
      return {checked_sum(call, a.base, b.base), checked_sum(call, a.slope, b.slope)};
    case F::kSubtract:
      return difference(call, a, b);
    case F::kMultiply:
      if (a.slope != 0 && b.slope != 0) refuse_batch(call);
      return {checked_product(call, a.base, b.base),
              checked_sum(call,
                          checked_product(call, a.base, b.slope),
                          checked_product(call, a.slope, b.base))};
    case F::kDivide:
      return divided(call, a, b);
    case F::kModulus:
    case F::kRemainder: {
      const std::int64_t x = one(a);
      const std::int64_t y = one(b);
      if (y == 0) call.refuse("divides an integer by 0");
      const std::int64_t rest = y == -1 ? 0 : x % y;
      const bool is_other_sign = rest != 0 && (rest < 0) != (y < 0);
      return {function == F::kModulus && is_other_sign ? rest + y : rest, 0};
    }
    case F::kPower:
      return {raised(call, one(a), one(b)), 0};
    case F::kMaximum:
      return is_at_least_zero(call, difference(call, a, b)) ? a : b;
    case F::kMinimum:
      return is_at_least_zero(call, difference(call, a, b)) ? b : a;
    case F::kEqual:
      return truth(is_zero(call, difference(call, a, b)));
    case F::kLess:
      return truth(is_positive(call, difference(call, b, a)));
    case F::kLessOrEqual:
      return truth(!is_positive(call, difference(call, a, b)));
    case F::kAnd:
      return truth(one(a) != 0 && one(b) != 0);
    case F::kOr:
      return truth(one(a) != 0 || one(b) != 0);
    case F::kXor:
      return truth((one(a) != 0) != (one(b) != 0));
    case F::kNot:
      return truth(one(a) == 0);
    case F::kNegative:
      return difference(call, {}, a);
    case F::kAbsolute:
      return is_at_least_zero(call, a) ? a : difference(call, {}, a);
    case F::kSign:
      if (is_zero(call, a)) return {};
      return {is_positive(call, a) ? 1 : -1, 0};
  }
  return {};
}

bool gives_truth(IntegerFunction function) {
  using F = IntegerFunction;
  switch (function) {
    case F::kNot:
    case F::kAnd:
    case F::kOr:
    case F::kXor:
    case F::kEqual:
    case F::kLess:
    case F::kLessOrEqual:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::int64_t checked_sum(const OperatorCall& call, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) call.refuse("makes an integer beyond 64 bits");
  return result;
}

std::int64_t checked_product(const OperatorCall& call, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) call.refuse("makes an integer beyond 64 bits");
  return result;
}

Value of_integers(const OperatorCall& call, const Value& a, IntegerFunction function) {
  return of_integers(call, a, a, function);
}

Value of_integers(const OperatorCall& call,
                  const Value& a,
                  const Value& b,
                  IntegerFunction function) {
  if (!a.is_known() || !b.is_known()) {
    call.refuse("computes with integers of shapes or indices and real numbers at once");
  }
  Axes axes = broadcast_axes(call, a.axes, b.axes);
  const Value x = expanded(call, a, axes);
  const Value y = expanded(call, b, axes);
  Integers result;
  for (std::size_t e = 0; e < x.integers->base.size(); ++e) {
    const Entry entry = applied(call,
                                {x.integers->base[e], x.integers->slope(e)},
                                {y.integers->base[e], y.integers->slope(e)},
                                function);
    result.base.push_back(entry.base);
    result.per_sample.push_back(entry.slope);
  }
  const ElementKind kind = gives_truth(function) ? ElementKind::kBoolean : a.kind;
  return call.known_result(std::move(result), std::move(axes), kind);
}

}  // namespace hesscope::onnx
