// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic on integers that are known without data: shapes, sizes, indices, with the number of
// samples N as a symbol. Results that are not of the form a + b N are refused.
#pragma once

#include <cstdint>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

enum class IntegerFunction {
  // unary
  kAbsolute,
  kNegative,
  kNot,
  kSign,
  // binary
  kAdd,
  kAnd,
  kDivide,  ///< towards 0
  kEqual,
  kLess,
  kLessOrEqual,
  kMaximum,
  kMinimum,
  kModulus,  ///< with the sign of the divisor
  kMultiply,
  kOr,
  kPower,      ///< towards 0 if the exponent is negative
  kRemainder,  ///< with the sign of the dividend
  kSubtract,
  kXor,
};

/// f(a), entry by entry. @throws InputError by call.refuse(): overflow; not of the form a + b N.
Value of_integers(const OperatorCall& call, const Value& a, IntegerFunction function);

/// f(a, b), entry by entry, broadcast. A comparison with N is true if it holds for all N >= 1,
/// false if it holds for none, and refused otherwise. @throws InputError as above, and for division
/// by 0.
Value of_integers(const OperatorCall& call,
                  const Value& a,
                  const Value& b,
                  IntegerFunction function);

/// a + b and a * b; refuse overflow.
std::int64_t checked_sum(const OperatorCall& call, std::int64_t a, std::int64_t b);
std::int64_t checked_product(const OperatorCall& call, std::int64_t a, std::int64_t b);

}  // namespace hesscope::onnx
