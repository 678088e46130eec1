// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include <hesscope/autodiff/gamma_functions.h>
#include <hesscope/core/constants.h>

namespace hesscope::detail {
namespace {

namespace policies = boost::math::policies;

// Computed in long double (Boost's default); non-finite results are returned, nothing is thrown.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>,
                               policies::pole_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;

bool is_pole(double x) { return x <= 0.0 && x == std::floor(x); }

}  // namespace

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (std::isnan(x) || is_pole(x)) return kNaN;
  if (std::isinf(x)) return x;
  return boost::math::digamma(x, Quiet());
}

double trigamma(double x) {
  if (std::isnan(x) || (std::isinf(x) && x < 0.0)) return kNaN;
  if (is_pole(x)) return kInfinity;
  if (std::isinf(x)) return 0.0;
  return boost::math::trigamma(x, Quiet());
}

}  // namespace hesscope::detail
