// SPDX-License-Identifier: BSD-3-Clause
//
// Whole quotients and remainders of numbers that data or parameters tell, as operations of a graph:
// a and b are of one shape. Remainders have the slope of a sawtooth, quotients none.
#pragma once

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// x without what is behind its point: rounded towards 0.
Var whole_part(Var x);

/// a / b of integers, towards 0; exact where |a| < 2^50.
Var whole_quotient(const OperatorCall& call, Var a, Var b);

/// a - trunc(a / b) b of integers, exact as whole_quotient().
Var integer_remainder(const OperatorCall& call, Var a, Var b);

/// a - trunc(a / b) b to the last bit, as std::fmod. NaN where |a / b| is 2^100 or more, and where
/// it is 1 or more for |b| beyond 1e300.
Var real_remainder(const OperatorCall& call, Var a, Var b);

/// The remainder with the sign of the divisor b, of that with the dividend's.
Var modulus_of(const OperatorCall& call, Var remainder, Var b);

}  // namespace hesscope::onnx
