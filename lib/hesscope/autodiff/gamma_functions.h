// SPDX-License-Identifier: BSD-3-Clause
//
// The logarithm of the gamma function and its derivatives, for jet_functions.h: to a few units in
// the last place, near the root of the digamma function, too.
#pragma once

namespace hesscope::detail {

// As std::lgamma, and safe to call concurrently: that writes to the global `signgam`.
double log_gamma(double x);

// At 0, -1, -2, ...: digamma, whose limits there are -inf and +inf, is NaN, and trigamma +inf. Both
// are NaN at -inf.
double digamma(double x);
double trigamma(double x);

}  // namespace hesscope::detail
