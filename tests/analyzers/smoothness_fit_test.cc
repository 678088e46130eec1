// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analyzers/smoothness_fit.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>

#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Numbers = std::vector<double>;
using test::expect_refusal;

class NoisyPath {
 public:
  explicit NoisyPath(std::uint64_t seed) : engine_(seed) {}

  // Uniform in [0, 1).
  double next() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }

  // Mean 0, standard deviation 1, from twelve uniform numbers.
  double bell() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += next();
    return sum;
  }

  Numbers numbers(std::size_t count) {
    Numbers values(count);
    for (double& value : values) value = next();
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(LeastSquaresLine, IsTheNormalEquationsByHand) {
  // Means 2 and 3; sum dx^2 = 10, sum dx dy = -2 * -2 + -1 * 0 + 0 * 1 + 1 * -1 + 2 * 2 = 7.
  const SmoothnessLine line = least_squares_line(Numbers{0, 1, 2, 3, 4}, Numbers{1, 3, 4, 2, 5});
  EXPECT_EQ(line.status, Status::kOk);
  EXPECT_NEAR(line.l1, 0.7, 1e-15);
  EXPECT_NEAR(line.l0, 3 - 0.7 * 2, 1e-15);
}

TEST(LeastSquaresLine, LeavesNoResidualAlongConstantsAndX) {
  NoisyPath draws(3);
  const Numbers x = draws.numbers(50);
  const Numbers y = draws.numbers(50);
  const SmoothnessLine line = least_squares_line(x, y);
  double sum = 0;
  double moment = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = y[i] - line.l0 - line.l1 * x[i];
    sum += residual;
    moment += residual * x[i];
  }
  EXPECT_NEAR(sum, 0, 1e-13);
  EXPECT_NEAR(moment, 0, 1e-13);
}

TEST(LeastSquaresLine, WorksAtEveryScale) {
  for (const double scale : {1e-200, 1e-100, 1e100, 1e200}) {
    const SmoothnessLine line = least_squares_line(Numbers{scale, 2 * scale}, Numbers{3, 5});
    EXPECT_NEAR(line.l1 * scale, 2, 1e-14);
    EXPECT_NEAR(line.l0, 1, 1e-14);
  }
}

TEST(LeastSquaresLine, IsUndefinedWhereXNeverChanges) {
  for (const double x : {0.0, 0.1, 1e300}) {
    const SmoothnessLine line = least_squares_line(Numbers{x, x, x}, Numbers{1, 2, 3});
    EXPECT_EQ(line.status, Status::kUndefinedZeroDenominator);
    EXPECT_TRUE(std::isnan(line.l0) && std::isnan(line.l1));
  }
  const SmoothnessLine rounded = least_squares_line(Numbers{0.3, 0.1 + 0.2}, Numbers{1, 2});
  EXPECT_EQ(rounded.status, Status::kUndefinedZeroDenominator);
}

TEST(LeastSquaresLine, KeepsItsInterceptWhereTheSlopeIsNoDouble) {
  const SmoothnessLine line = least_squares_line(Numbers{1e300, 3e300}, Numbers{3e-20, 5e-20});
  EXPECT_NEAR(line.l0 / 2e-20, 1, 1e-14);
  EXPECT_EQ(line.l1, 1e-320);
}

// The least of the sum of squares over L0, L1 >= 0 is where its gradient is zero in the constants
// that are positive, and not negative in those that are zero (Karush, Kuhn, Tucker).
TEST(NonnegativeLine, IsOptimalUnderTheConstraint) {
  NoisyPath draws(4);
  int num_through_origin = 0;
  int num_level = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const double scale = std::pow(10.0, 40 * (trial % 15 - 7));
    Numbers x = draws.numbers(3 + static_cast<std::size_t>(trial) % 10);
    Numbers y = draws.numbers(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (trial % 3 == 1) y[i] = x[i] * x[i] * y[i];
      if (trial % 3 == 2) y[i] = 1 - x[i] + 0.1 * y[i];
      x[i] *= scale;
    }
    const SmoothnessLine line = nonnegative_line(x, y);
    ASSERT_EQ(line.status, Status::kOk);
    const double l1 = line.l1 * scale;
    ASSERT_GE(line.l0, 0);
    ASSERT_GE(l1, 0);
    double by_l0 = 0;
    double by_l1 = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double residual = line.l0 + l1 * (x[i] / scale) - y[i];
      by_l0 += residual;
      by_l1 += residual * (x[i] / scale);
    }
    if (line.l0 > 0) {
      EXPECT_NEAR(by_l0, 0, 1e-12);
    } else {
      EXPECT_GE(by_l0, -1e-12);
    }
    if (l1 > 0) {
      EXPECT_NEAR(by_l1, 0, 1e-12);
    } else {
      EXPECT_GE(by_l1, -1e-12);
    }
    if (line.l0 == 0) ++num_through_origin;
    if (l1 == 0) ++num_level;
    const SmoothnessLine free = least_squares_line(x, y);
    if (free.l0 >= 0 && free.l1 >= 0) {
      EXPECT_EQ(line.l0, free.l0);
      EXPECT_EQ(line.l1, free.l1);
    }
  }
  EXPECT_GT(num_through_origin, 20);
  EXPECT_GT(num_level, 20);
}

TEST(NonnegativeLine, GoesThroughTheOriginOrIsLevelByHand) {
  // Free: 5 x - 4. Through the origin: (1 + 2 * 6) / (1 + 4).
  const SmoothnessLine steep = nonnegative_line(Numbers{1, 2}, Numbers{1, 6});
  EXPECT_EQ(steep.l0, 0);
  EXPECT_NEAR(steep.l1, 13.0 / 5, 1e-15);
  const SmoothnessLine falling = nonnegative_line(Numbers{1, 2, 3}, Numbers{3, 2, 1});
  EXPECT_EQ(falling.l0, 2);
  EXPECT_EQ(falling.l1, 0);
}

TEST(SmoothnessLines, SayWhatIsNotFinite) {
  EXPECT_EQ(nonnegative_line(Numbers{1, kNaN}, Numbers{1, 2}).status, Status::kNonFinite);
  EXPECT_EQ(least_squares_line(Numbers{1, kNaN}, Numbers{1, 2}).status, Status::kNonFinite);
  EXPECT_EQ(tightest_line(Numbers{1, 2}, Numbers{INFINITY, 2}).status, Status::kNonFinite);
}

// The linear programme's vertices are where two constraints hold with equality: every line through
// two of the points, the level line through one, the line through the origin and one.
double lowest_by_enumeration(const Numbers& x, const Numbers& y) {
  double mean = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  double lowest = kInfinity;
  const auto consider = [&](double l0, double l1) {
    if (!(l0 >= -1e-12 && l1 >= -1e-12)) return;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!(l0 + l1 * x[k] >= y[k] - 1e-12)) return;
    }
    lowest = test::smaller(lowest, l0 + l1 * mean);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    consider(y[i], 0);
    if (x[i] > 0) consider(0, y[i] / x[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (x[i] == x[j]) continue;
      const double slope = (y[i] - y[j]) / (x[i] - x[j]);
      consider(y[i] - slope * x[i], slope);
    }
  }
  return lowest;
}

TEST(TightestLine, AgreesWithAllVerticesOfTheProgramme) {
  NoisyPath draws(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t count = 1 + static_cast<std::size_t>(trial) % 12;
    Numbers x = draws.numbers(count);
    Numbers y = draws.numbers(count);
    // Falling, flat, rising and convex clouds; ties.
    for (std::size_t i = 0; i < count; ++i) {
      if (trial % 5 == 1) y[i] = 2 * x[i] + 0.1 * y[i];
      if (trial % 5 == 2) y[i] = 1 - x[i];
      if (trial % 5 == 3) y[i] = x[i] * x[i];
      if (trial % 5 == 4) x[i] = std::round(4 * x[i]) / 4;
    }
    const SmoothnessLine line = tightest_line(x, y);
    ASSERT_EQ(line.status, Status::kOk);
    EXPECT_GE(line.l0, 0);
    EXPECT_GE(line.l1, 0);
    double mean = 0;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_GE(line.l0 + line.l1 * x[i], y[i] - 1e-14);
      mean += x[i] / static_cast<double>(count);
    }
    EXPECT_NEAR(line.l0 + line.l1 * mean, lowest_by_enumeration(x, y), 1e-12) << trial;
  }
}

TEST(TightestLine, IsTheLineThatPointsLieOn) {
  const SmoothnessLine line = tightest_line(Numbers{1, 2, 5}, Numbers{5, 7, 13});
  EXPECT_NEAR(line.l0, 3, 1e-14);
  EXPECT_NEAR(line.l1, 2, 1e-14);
}

TEST(TightestLine, GoesThroughTheOriginBeforeItGoesBelow) {
  // Least squares has the intercept -1; L0 >= 0 makes it the steepest ray.
  const SmoothnessLine line = tightest_line(Numbers{1, 2}, Numbers{1, 3});
  EXPECT_EQ(line.l0, 0);
  EXPECT_NEAR(line.l1, 1.5, 1e-15);
}

TEST(TightestLine, IsLevelWherePointsFall) {
  const SmoothnessLine line = tightest_line(Numbers{1, 2, 4}, Numbers{3, 2, 1});
  EXPECT_EQ(line.l0, 3);
  EXPECT_EQ(line.l1, 0);
}

TEST(TightestLine, TakesZerosAndEveryScale) {
  const SmoothnessLine zeros = tightest_line(Numbers{0, 0}, Numbers{0, 0});
  EXPECT_EQ(zeros.l0, 0);
  EXPECT_EQ(zeros.l1, 0);
  const SmoothnessLine still = tightest_line(Numbers{0, 0}, Numbers{2, 5});
  EXPECT_EQ(still.l0, 5);
  EXPECT_EQ(still.l1, 0);
  for (const double scale : {1e-200, 1e200}) {
    const SmoothnessLine line = tightest_line(Numbers{scale, 3 * scale}, Numbers{2, 4});
    EXPECT_NEAR(line.l0, 1, 1e-14);
    EXPECT_NEAR(line.l1 * scale, 1, 1e-14);
  }
}

TEST(SmoothnessLines, RefuseWhatIsNoSetOfPoints) {
  expect_refusal([] { least_squares_line(Numbers{1, 2}, Numbers{1}); }, "got 2 and 1");
  expect_refusal([] { tightest_line(Numbers{}, Numbers{}); }, "got 0 and 0");
  expect_refusal([] { nonnegative_line(Numbers{1, -2}, Numbers{1, 1}); }, "negative, got -2");
  expect_refusal([] { tightest_line(Numbers{1, -2}, Numbers{1, 1}); }, "negative, got -2");
  expect_refusal([] { tightest_line(Numbers{1}, Numbers{-3}); }, "negative, got -3");
}

TEST(BootstrapIntervals, HaveNoWidthOnALine) {
  const Numbers x = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  Numbers y;
  for (const double value : x) y.push_back(0.5 + 0.25 * value);
  for (const LineIntervals& found : {bootstrap_intervals(x, y, least_squares_line, {}),
                                     bootstrap_intervals(x, y, tightest_line, {}),
                                     nonnegative_intervals(x, y, {})}) {
    EXPECT_EQ(found.status, Status::kOk);
    EXPECT_NEAR(found.l0_lower, 0.5, 1e-12);
    EXPECT_NEAR(found.l0_upper, 0.5, 1e-12);
    EXPECT_NEAR(found.l1_lower, 0.25, 1e-13);
    EXPECT_NEAR(found.l1_upper, 0.25, 1e-13);
  }
}

// For m points y = 1 + 2 x + noise with standard deviation s, L1 has the variance s^2 / sum dx^2
// and L0 s^2 (1 / m + mean(x)^2 / sum dx^2); the quantiles of the normal distribution are 1.96
// roots of these away.
TEST(BootstrapIntervals, AreAsWideAsTheClosedFormOfTheStandardError) {
  NoisyPath draws(11);
  const std::size_t m = 500;
  const double s = 0.3;
  const Numbers x = draws.numbers(m);
  Numbers y;
  for (const double value : x) y.push_back(1 + 2 * value + s * draws.bell());
  double mean = 0;
  for (const double value : x) mean += value / static_cast<double>(m);
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  const LineIntervals found = bootstrap_intervals(x, y, least_squares_line, {.seed = 5});
  const double error_l1 = s / std::sqrt(squares);
  const double error_l0 = s * std::sqrt(1.0 / static_cast<double>(m) + mean * mean / squares);
  // Noise drawn: s is known to 1 / sqrt(2 m) = 3%; ends of 2000 samples to about 3% as well.
  EXPECT_NEAR((found.l1_upper - found.l1_lower) / (2 * 1.96 * error_l1), 1, 0.12);
  EXPECT_NEAR((found.l0_upper - found.l0_lower) / (2 * 1.96 * error_l0), 1, 0.12);
}

TEST(BootstrapIntervals, HoldTheTruthAboutAsOftenAsTheySay) {
  int hits = 0;
  const int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    NoisyPath draws(1000 + static_cast<std::uint64_t>(trial));
    const Numbers x = draws.numbers(60);
    Numbers y;
    for (const double value : x) y.push_back(1 + 2 * value + 0.2 * draws.bell());
    const LineIntervals found = bootstrap_intervals(
        x, y, least_squares_line, {.num_resamples = 300, .level = 0.9, .seed = 7});
    if (found.l1_lower <= 2 && 2 <= found.l1_upper) ++hits;
  }
  // 270 expected, 5 the standard deviation; of 60 points the interval is some percent too narrow.
  EXPECT_GE(hits, 250);
  EXPECT_LE(hits, 286);
}

TEST(BootstrapIntervals, DependOnTheSeedAloneAndContainEachOther) {
  NoisyPath draws(2);
  const Numbers x = draws.numbers(20);
  const Numbers y = draws.numbers(20);
  const auto interval = [&](double level, std::uint64_t seed) {
    return bootstrap_intervals(x, y, least_squares_line, {.level = level, .seed = seed});
  };
  const LineIntervals wide = interval(0.95, 1);
  EXPECT_EQ(wide.l0_lower, interval(0.95, 1).l0_lower);
  EXPECT_EQ(wide.l1_upper, interval(0.95, 1).l1_upper);
  const LineIntervals narrow = interval(0.5, 1);
  EXPECT_LE(wide.l0_lower, narrow.l0_lower);
  EXPECT_GE(wide.l0_upper, narrow.l0_upper);
  EXPECT_NE(interval(0.95, 2).l0_lower, wide.l0_lower);
}

TEST(BootstrapIntervals, AreUndefinedWhereMostSamplesHaveNoLine) {
  const Numbers x(12, 1.0);
  const Numbers y = NoisyPath(1).numbers(12);
  for (const LineIntervals& found :
       {bootstrap_intervals(x, y, least_squares_line, {}), nonnegative_intervals(x, y, {})}) {
    EXPECT_EQ(found.status, Status::kUndefinedZeroDenominator);
    EXPECT_TRUE(std::isnan(found.l0_lower) && std::isnan(found.l1_upper));
  }
}

TEST(BootstrapIntervals, TakeTenPoints) {
  for (const std::size_t m : {2U, 3U, 6U, 9U, 10U}) {
    NoisyPath draws(m);
    const Numbers x = draws.numbers(m);
    const Numbers y = draws.numbers(m);
    for (const LineIntervals& found :
         {bootstrap_intervals(x, y, tightest_line, {}), nonnegative_intervals(x, y, {})}) {
      EXPECT_EQ(found.status, m < 10 ? Status::kUndefinedTooFewPoints : Status::kOk) << m;
      EXPECT_EQ(std::isnan(found.l0_lower) && std::isnan(found.l0_upper) &&
                    std::isnan(found.l1_lower) && std::isnan(found.l1_upper),
                m < 10)
          << m;
    }
  }
}

TEST(NonnegativeIntervals, HoldTheEstimateAndNothingBelowZero) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    NoisyPath draws(100 + trial);
    const Numbers x = draws.numbers(12);
    Numbers y = draws.numbers(12);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (trial % 3 == 1) y[i] *= 3 * x[i] * x[i];         // far below a line: free L0 < 0
      if (trial % 3 == 2) y[i] = 1.2 - x[i] + 0.1 * y[i];  // free L1 < 0
    }
    const SmoothnessLine line = nonnegative_line(x, y);
    const LineIntervals found = nonnegative_intervals(x, y, {.num_resamples = 500, .seed = trial});
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_TRUE(0 <= found.l0_lower && found.l0_lower <= line.l0 && line.l0 <= found.l0_upper);
    EXPECT_TRUE(0 <= found.l1_lower && found.l1_lower <= line.l1 && line.l1 <= found.l1_upper);
    // No claim to know that a constant is exactly zero.
    EXPECT_GT(found.l0_upper, found.l0_lower);
    EXPECT_GT(found.l1_upper, found.l1_lower);
  }
}

TEST(NonnegativeIntervals, DoNotKnowTheScale) {
  NoisyPath draws(8);
  const Numbers x = draws.numbers(20);
  Numbers y;
  for (const double value : x) y.push_back((1 + 2 * value) * (0.5 + draws.next()));
  const LineIntervals wanted = nonnegative_intervals(x, y, {.num_resamples = 300});
  for (const int k : {-990, -500, 500, 990}) {
    Numbers scaled;
    for (const double value : y) scaled.push_back(std::ldexp(value, k));
    const LineIntervals found = nonnegative_intervals(x, scaled, {.num_resamples = 300});
    EXPECT_NEAR(std::ldexp(found.l0_lower, -k), wanted.l0_lower, 1e-14);
    EXPECT_NEAR(std::ldexp(found.l0_upper, -k), wanted.l0_upper, 1e-14);
    EXPECT_NEAR(std::ldexp(found.l1_lower, -k), wanted.l1_lower, 1e-14);
    EXPECT_NEAR(std::ldexp(found.l1_upper, -k), wanted.l1_upper, 1e-14);
  }
}

TEST(BootstrapIntervals, RefuseLevelsAndNumbersThatAreNone) {
  const auto with = [](const BootstrapOptions& options) {
    bootstrap_intervals(Numbers{1, 2}, Numbers{1, 2}, least_squares_line, options);
  };
  for (const double level : {0.0, 1.0, kNaN}) {
    expect_refusal([&] { with({.level = level}); }, "a level in (0, 1)");
    expect_refusal(
        [&] {
          nonnegative_intervals(Numbers{1, 2}, Numbers{1, 2}, {.level = level});
        },
        "a level in (0, 1)");
  }
  expect_refusal([&] { with({.num_resamples = 0}); }, "at least 1 sample");
}

}  // namespace
}  // namespace hesscope
