// SPDX-License-Identifier: BSD-3-Clause
//
// The logarithm of the gamma function and its derivatives, for jet_functions.h; accurate to a few
// units in the last place, even near the root of the digamma function.
#pragma once

namespace hesscope::detail {

// Like std::lgamma, but safe to call concurrently: that function writes to the global `signgam`.
double log_gamma(double x);

// At 0, -1, -2, ..., digamma is NaN, because its one-sided limits are -inf and +inf, and trigamma
// is +inf. Both are NaN at -inf.
double digamma(double x);
double trigamma(double x);

}  // namespace hesscope::detail
