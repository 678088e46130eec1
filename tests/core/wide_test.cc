// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/wide.h>

#include "support/multiprecision.h"

namespace hesscope::detail {
namespace {

using test::Real50;

// Magnitudes from subnormal to the largest, of either sign.
double any_double(std::mt19937_64& engine) {
  const double fraction = std::ldexp(static_cast<double>(engine() >> 11), -53) - 0.5;
  return std::ldexp(fraction, static_cast<int>(engine() % 2098) - 1073);
}

TEST(Wide, IsEveryDoubleWithoutLoss) {
  std::mt19937_64 engine(1);
  for (int trial = 0; trial < 20000; ++trial) {
    const double x = any_double(engine);
    EXPECT_EQ(Wide(x).value(), x);
  }
  for (const double x : {0.0, 1.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308}) {
    EXPECT_EQ(Wide(x).value(), x);
    EXPECT_EQ(Wide(-x).value(), -x);
  }
  EXPECT_EQ(Wide(kInfinity).value(), kInfinity);
  EXPECT_TRUE(std::isnan(Wide(std::nan("")).value()));
  EXPECT_EQ(Wide().value(), 0.0);
}

TEST(Wide, HasTheBitsOfDoubleWhereDoublesSuffice) {
  std::mt19937_64 engine(2);
  const auto ordinary = [&engine] {
    const double fraction = std::ldexp(static_cast<double>(engine() >> 11), -53) - 0.5;
    return std::ldexp(fraction, static_cast<int>(engine() % 200) - 100);
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const double a = ordinary();
    const double b = ordinary();
    EXPECT_EQ((Wide(a) * b).value(), a * b);
    EXPECT_EQ((Wide(a) / b).value(), a / b);
    EXPECT_EQ((Wide(a) + b).value(), a + b);
    EXPECT_EQ((Wide(a) - b).value(), a - b);
    EXPECT_EQ(sqrt(Wide(std::abs(a))).value(), std::sqrt(std::abs(a)));
    EXPECT_EQ(Wide(a) < Wide(b), a < b);
    EXPECT_EQ(Wide(a) > Wide(b), a > b);
  }
}

// (a b + c d) / (e f) of numbers from 1e-323 to 1e308, in doubles and 50 digits.
TEST(Wide, GoesWhereNoDoubleGoesAndComesBack) {
  std::mt19937_64 engine(3);
  int num_lost = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double a = any_double(engine);
    const double b = any_double(engine);
    const double e = any_double(engine);
    const double f = any_double(engine);
    const double found = (Wide(a) * b / (Wide(e) * f)).value();
    const Real50 exact = Real50(a) * b / (Real50(e) * f);
    const double wanted = static_cast<double>(exact);
    if (a * b / (e * f) != wanted) ++num_lost;
    if (std::abs(wanted) > 1e-300 && std::abs(wanted) < 1e300) {
      EXPECT_NEAR(found / wanted, 1, 5e-16);
    } else if (abs(exact) > Real50("1e309")) {
      EXPECT_EQ(std::abs(found), kInfinity);
    }
  }
  EXPECT_GT(num_lost, 2000);  // the doubles do need help
}

TEST(Wide, AddsAcrossAllExponents) {
  const Wide huge = Wide(1e300) * 1e300;
  const Wide tiny = Wide(1e-300) * 1e-300;
  EXPECT_EQ((huge + tiny - huge).value(), 0);
  EXPECT_EQ(((huge * 3.0 - huge) / huge).value(), 2);
  EXPECT_EQ(((tiny + tiny) / tiny).value(), 2);
  EXPECT_EQ(((Wide() + tiny) / tiny).value(), 1);
  EXPECT_TRUE(tiny < huge);
  EXPECT_TRUE(-huge < tiny);
  EXPECT_TRUE(Wide() < tiny);
  EXPECT_FALSE(huge < huge);
  EXPECT_EQ(tiny.value(), 0);
  EXPECT_EQ(huge.value(), kInfinity);
  EXPECT_EQ((-huge).value(), -kInfinity);
  EXPECT_EQ(sqrt(tiny).value(), 1e-300);
  EXPECT_EQ(abs(-tiny * 1e300).value(), 1e-300);
}

TEST(Wide, KeepsWhatIsNotFinite) {
  EXPECT_EQ((Wide(1) / Wide()).value(), kInfinity);
  EXPECT_TRUE(std::isnan((Wide() / Wide()).value()));
  EXPECT_TRUE(std::isnan((Wide(kInfinity) - Wide(kInfinity)).value()));
  EXPECT_TRUE(std::isnan((Wide(kInfinity) * Wide()).value()));
  EXPECT_TRUE(std::isnan((Wide(std::nan("")) + Wide(1)).value()));
  EXPECT_TRUE(std::isnan(sqrt(Wide(-1)).value()));
  EXPECT_EQ((Wide(kInfinity) + Wide(1)).value(), kInfinity);
  EXPECT_FALSE(Wide(std::nan("")) < Wide(1));
  EXPECT_FALSE(Wide(std::nan("")) > Wide(1));
  EXPECT_TRUE(isfinite(Wide(1e300) * 1e300));
  EXPECT_FALSE(isfinite(Wide(kInfinity)));
}

}  // namespace
}  // namespace hesscope::detail
