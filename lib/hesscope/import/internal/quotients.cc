// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/import/internal/quotients.h>

namespace hesscope::onnx {
namespace {

Var sign(Var x) { return elementary(Elementary::kSign, x); }

}  // namespace

Var whole_part(Var x) { return hadamard(sign(x), elementary(Elementary::kFloor, abs(x))); }

// floor((|a| + 1/2) / |b|) with the sign of the quotient: the half keeps the quotient away from
// jumps, so that its rounding does not matter.
Var whole_quotient(const OperatorCall& call, Var a, Var b) {
  const Var size = elementary(Elementary::kFloor, (abs(a) + call.constant(0.5)) / abs(b));
  return hadamard(hadamard(sign(a), sign(b)), size);
}

Var integer_remainder(const OperatorCall& call, Var a, Var b) {
  return a - hadamard(whole_quotient(call, a, b), b);
}

// Long division with digits of 25 bits. Their products with each half of |b| are exact, and so are
// the differences; finally, |b| is added or subtracted once if a quotient was rounded across an
// integer.
Var real_remainder(const OperatorCall& call, Var a, Var b) {
  constexpr int kBits = 25;
  constexpr int kDigits = 4;
  const Var divisor = abs(b);
  const Var wide = 0x8000001p0 * divisor;  // Veltkamp: 2^27 + 1 splits 53 bits into halves
  const Var high = wide - (wide - divisor);
  const Var low = divisor - high;
  const Var size = abs(a);
  Var rest = size;
  for (int digit = kDigits; digit-- > 0;) {
    const double unit = std::ldexp(1.0, kBits * digit);
    const Var times = unit * whole_part((1 / unit) * (rest / divisor));
    rest = rest - hadamard(times, high) - hadamard(times, low);
  }
  const Var is_beyond = less(divisor, rest) + equal(divisor, rest);
  rest = rest + hadamard(less(rest, call.constant(0.0)) - is_beyond, divisor);
  const Var is_known = less(size / divisor, call.constant(std::ldexp(1.0, kBits * kDigits)));
  rest = rest + call.constant(0.0) / is_known;
  return select(less(size, divisor), a, hadamard(sign(a), rest));
}

Var modulus_of(const OperatorCall& call, Var remainder, Var b) {
  const Var signs = hadamard(sign(remainder), sign(b));
  return select(less(signs, call.constant(0.0)), remainder + b, remainder);
}

}  // namespace hesscope::onnx
