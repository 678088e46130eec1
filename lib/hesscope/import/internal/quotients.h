// SPDX-License-Identifier: BSD-3-Clause
//
// Whole quotients and remainders of numbers given by data or parameters, as operations of a graph;
// a and b have the same shape. Remainders have the slope of a sawtooth, quotients have none.
#pragma once

#include <hesscope/import/internal/operator_call.h>

namespace hesscope::onnx {

/// x rounded towards 0.
Var whole_part(Var x);

/// a / b for integers, rounded towards 0; exact if |a| < 2^50.
Var whole_quotient(const OperatorCall& call, Var a, Var b);

/// a - trunc(a / b) b for integers, exact like whole_quotient().
Var integer_remainder(const OperatorCall& call, Var a, Var b);

/// a - trunc(a / b) b to the last bit, like std::fmod. NaN if |a / b| is 2^100 or more, or if it is
/// 1 or more and |b| is above 1e300.
Var real_remainder(const OperatorCall& call, Var a, Var b);

/// The remainder with the sign of the divisor b, computed from the one with the dividend's sign.
Var modulus_of(const OperatorCall& call, Var remainder, Var b);

}  // namespace hesscope::onnx
