// SPDX-License-Identifier: BSD-3-Clause
//
// Whether numbers follow a law. The bounds are those that a right sampler breaks once in 10^6
// seeds; seeds are fixed.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace hesscope::test {

/// |Z| > 4.9 happens to a normal Z once in 10^6.
inline constexpr double kSigmas = 4.9;

/// That the mean of `values` is `mean`, theirs being the standard deviation `deviation`.
inline void expect_mean(const std::vector<double>& values, double mean, double deviation) {
  double sum = 0;
  for (const double x : values) sum += x;
  const auto n = static_cast<double>(values.size());
  EXPECT_LE(std::abs(sum / n - mean), kSigmas * deviation / std::sqrt(n)) << "of " << sum / n;
}

/// Powers of the values.
inline std::vector<double> powers(std::vector<double> values, int exponent) {
  for (double& x : values) x = std::pow(x, exponent);
  return values;
}

/// Kolmogorov and Smirnov: P(sqrt(n) D > 2.7) <= 2 exp(-2 2.7^2) = 9e-7.
template <typename Distribution>
void expect_distribution(std::vector<double> values, const Distribution& cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    ASSERT_TRUE(p >= 0 && p <= 1) << values[i];
    distance =
        std::max({distance, static_cast<double>(i + 1) / n - p, p - static_cast<double>(i) / n});
  }
  EXPECT_LE(std::sqrt(n) * distance, 2.7);
}

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// P(a, x) by its power series: x^a e^-x / Gamma(a + 1) sum over m of x^m / ((a + 1) ... (a + m)).
inline double gamma_cdf(double a, double x) {
  if (x <= 0) return 0;
  double term = 1;
  double sum = 1;
  for (int m = 1; term > 1e-17 * sum; ++m) {
    term *= x / (a + m);
    sum += term;
  }
  return std::min(1.0, std::exp(a * std::log(x) - x - std::lgamma(a + 1)) * sum);
}

}  // namespace hesscope::test
