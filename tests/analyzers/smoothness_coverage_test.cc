// SPDX-License-Identifier: BSD-3-Clause
//
// How often intervals of nominal 95 % hold the constants that points were made from.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analyzers/smoothness_fit.h>

namespace hesscope {
namespace {

enum class Spread { kUniform, kLogarithmic };     // of x: on [0, 3], or on [1e-2, 1] by magnitude
enum class Noise { kAdditive, kMultiplicative };  // standard deviation 0.3

struct Process {
  const char* name;
  double l0;
  double l1;
  Spread spread;
  Noise noise;
};

constexpr Process kProcesses[] = {
    {"additive", 1, 2, Spread::kUniform, Noise::kAdditive},
    {"multiplicative", 1, 2, Spread::kUniform, Noise::kMultiplicative},
    {"near the boundary", 0.1, 2, Spread::kUniform, Noise::kMultiplicative},
    {"L0 = 0", 0, 2, Spread::kUniform, Noise::kMultiplicative},
    {"L1 = 0", 1, 0, Spread::kUniform, Noise::kMultiplicative},
    {"magnitudes", 0.2, 2, Spread::kLogarithmic, Noise::kMultiplicative},
    {"magnitudes, L0 = 0", 0, 2, Spread::kLogarithmic, Noise::kMultiplicative},
    {"magnitudes, L1 = 0", 1, 0, Spread::kLogarithmic, Noise::kMultiplicative},
};

struct Coverage {
  double l0 = 0;
  double l1 = 0;
};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }

  double bell() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

Coverage coverage(const Process& process, std::size_t m) {
  constexpr int kTrials = 300;
  constexpr double kDeviation = 0.3;
  Draws draws(17 + m);
  Coverage found;
  std::vector<double> x(m);
  std::vector<double> y(m);
  for (int trial = 0; trial < kTrials; ++trial) {
    for (std::size_t i = 0; i < m; ++i) {
      x[i] = process.spread == Spread::kUniform ? 3 * draws.uniform()
                                                : std::pow(10.0, -2 * draws.uniform());
      const double mean = process.l0 + process.l1 * x[i];
      const double noise = kDeviation * draws.bell();
      y[i] = process.noise == Noise::kAdditive
                 ? std::max(mean + noise, 0.0)
                 : mean * std::exp(noise - kDeviation * kDeviation / 2);
    }
    const LineIntervals intervals = nonnegative_intervals(
        x, y, {.num_resamples = 800, .seed = static_cast<std::uint64_t>(trial)});
    if (intervals.l0_lower <= process.l0 && process.l0 <= intervals.l0_upper) found.l0 += 1;
    if (intervals.l1_lower <= process.l1 && process.l1 <= intervals.l1_upper) found.l1 += 1;
  }
  return {found.l0 / kTrials, found.l1 / kTrials};
}

// The standard error of a share of 0.95 in 300 trials is 0.013.
TEST(SmoothnessCoverage, IsNearNominal) {
  for (const std::size_t m : {10U, 30U}) {
    for (const Process& process : kProcesses) {
      const Coverage found = coverage(process, m);
      SCOPED_TRACE(testing::Message()
                   << process.name << ", " << m << " points: " << found.l0 << " and " << found.l1);
      EXPECT_GE(found.l0, 0.91);
      EXPECT_GE(found.l1, 0.87);
      // On the boundary one end only can miss.
      if (process.l0 == 0) {
        EXPECT_GE(found.l0, 0.94);
      }
      if (process.l1 == 0) {
        EXPECT_GE(found.l1, 0.94);
      }
    }
  }
}

// Intervals that hold everything would, too.
TEST(SmoothnessCoverage, IsNotThatOfEndlessIntervals) {
  const Process& process = kProcesses[0];
  int num_held = 0;
  Draws draws(5);
  std::vector<double> x(30);
  std::vector<double> y(30);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 3 * draws.uniform();
    y[i] = process.l0 + process.l1 * x[i] + 0.3 * draws.bell();
  }
  const LineIntervals intervals = nonnegative_intervals(x, y, {});
  for (const double l1 : {1.5, 1.7, 2.0, 2.3, 2.5}) {
    if (intervals.l1_lower <= l1 && l1 <= intervals.l1_upper) ++num_held;
  }
  EXPECT_EQ(num_held, 1);
}

}  // namespace
}  // namespace hesscope
