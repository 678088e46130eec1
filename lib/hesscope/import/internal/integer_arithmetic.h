// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic on integers that are known before there are data: shapes, sizes, indices, with the
// number of samples N as a symbol. What is not of the form a + b N is refused.
#pragma once

#include <cstdint>

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

enum class IntegerFunction {
  // of one
  kAbsolute,
  kNegative,
  kNot,
  kSign,
  // of two
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
  kPower,      ///< towards 0 where the exponent is negative
  kRemainder,  ///< with the sign of the dividend
  kSubtract,
  kXor,
};

/// f(a), entry by entry. @throws InputError by call.refuse(): overflow; not of the form a + b N.
Value of_integers(const OperatorCall& call, const Value& a, IntegerFunction function);

/// f(a, b), entry by entry, broadcast. Comparisons with N hold if they do for all N >= 1, fail if
/// they do for none, and are refused otherwise. @throws InputError as above, and for division by 0.
Value of_integers(const OperatorCall& call,
                  const Value& a,
                  const Value& b,
                  IntegerFunction function);

/// a + b, a * b with overflow refused.
std::int64_t checked_sum(const OperatorCall& call, std::int64_t a, std::int64_t b);
std::int64_t checked_product(const OperatorCall& call, std::int64_t a, std::int64_t b);

}  // namespace hesscope::onnx
