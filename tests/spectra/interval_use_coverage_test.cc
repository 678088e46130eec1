// SPDX-License-Identifier: BSD-3-Clause
//
// Whether intervals that are called usable hold the population's figures: 400 data sets of 640
// Gaussian vectors each, whose covariance is diagonal, in 32 blocks; level 0.95.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>

#include "support/gaussian_samples.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using enum SpectralFigure;

constexpr int kNumDataSets = 400;
constexpr std::size_t kNumStudied = kSpectralFigureNames.size();

// Counts over the draws.
struct UseCounts {
  int num_held = 0;
  std::array<int, kIntervalUseMeanings.size()> num_of_use = {};
  std::array<int, kIntervalUseMeanings.size()> num_held_of_use = {};

  double share(IntervalUse use) const {
    return num_of_use[static_cast<std::size_t>(use)] / static_cast<double>(kNumDataSets);
  }

  double usable() const { return share(IntervalUse::kUsable); }

  double coverage() const { return num_held / static_cast<double>(kNumDataSets); }

  // The coverage among the usable intervals.
  double usable_coverage() const {
    constexpr auto kUsable = static_cast<std::size_t>(IntervalUse::kUsable);
    return num_held_of_use[kUsable] / static_cast<double>(num_of_use[kUsable]);
  }
};

struct UseStudy {
  std::array<UseCounts, kNumStudied> figures;

  const UseCounts& operator[](SpectralFigure figure) const { return figures[index_of(figure)]; }
};

// Ascending variances are eigenvalues, magnitudes and entries of the diagonal at once.
std::array<double, kNumStudied> population_figures(const VectorXd& variances) {
  const double smallest = variances[0];
  const double median = lower_median(variances);
  const double largest = variances[variances.size() - 1];
  const double ratio = largest / median;
  return {largest, smallest, median, median, ratio, ratio, ratio};
}

UseStudy use_study(const std::string& name, const VectorXd& variances) {
  constexpr Index kBlockSize = 20;
  const std::array<double, kNumStudied> population = population_figures(variances);
  UseStudy study;
  for (std::uint64_t seed = 0; seed < kNumDataSets; ++seed) {
    const SamplingErrors errors =
        sampling_errors_of_blocks(test::blocks_of_covariance(variances, kBlockSize, seed), 0.95)
            .errors;
    for (std::size_t f = 0; f < kNumStudied; ++f) {
      const SamplingError& error = errors.figures[f];
      const int held = error.lower <= population[f] && population[f] <= error.upper ? 1 : 0;
      const auto use = static_cast<std::size_t>(error.interval);
      study.figures[f].num_held += held;
      ++study.figures[f].num_of_use[use];
      study.figures[f].num_held_of_use[use] += held;
    }
  }
  std::printf("  %s: held; called usable, held of these; crowded_median\n", name.c_str());
  for (std::size_t f = 0; f < kNumStudied; ++f) {
    const UseCounts& c = study.figures[f];
    constexpr auto kUsable = static_cast<std::size_t>(IntervalUse::kUsable);
    std::printf("    %-18s %5.1f %%  %5.1f %%, %3d of %3d  %5.1f %%\n",
                std::string(kSpectralFigureNames[f]).c_str(),
                100 * c.coverage(),
                100 * c.usable(),
                c.num_held_of_use[kUsable],
                c.num_of_use[kUsable],
                100 * c.share(IntervalUse::kCrowdedMedian));
  }
  return study;
}

VectorXd geometric_variances(Index n, double largest) {
  return VectorXd::LinSpaced(n, 0, std::log(largest)).array().exp();
}

// The largest k of 8 are 1, the others 0.3.
VectorXd multiple_at_top(Index k) {
  VectorXd variances = VectorXd::Constant(8, 0.3);
  variances.tail(k).setOnes();
  return variances;
}

TEST(IntervalUseCoverage, OfAMultipleExtremeIsHardlyEverCalledUsable) {
  for (const Index k : {2, 3, 4, 6, 8}) {
    const UseStudy study = use_study(std::to_string(k) + " of 8 at the top", multiple_at_top(k));
    EXPECT_LE(study[kLambdaMax].usable(), 0.04);
    EXPECT_LE(study[kLambdaMax].coverage(), k == 2 ? 0.93 : 0.85);
    for (const SpectralFigure figure : {kRobustEigenvalue, kRobustAbsolute, kRobustDiagonal}) {
      const UseCounts& ratio = study[figure];
      EXPECT_LE(ratio.usable() + ratio.share(IntervalUse::kCrowdedMedian), 0.04);
    }
    if (k < 8) {
      EXPECT_LE(study[kLambdaMin].usable(), 0.05);
    }
  }
}

TEST(IntervalUseCoverage, OfExtremesThatStandApartIsUsableAndHolds) {
  const UseStudy alone = use_study("1 of 8 at the top", multiple_at_top(1));
  EXPECT_GE(alone[kLambdaMax].usable(), 0.98);
  EXPECT_GE(alone[kLambdaMax].usable_coverage(), 0.92);
  for (const auto& [n, largest] : {std::pair<Index, double>(10, 1e3), {20, 1e4}}) {
    const UseStudy study =
        use_study(std::to_string(n) + " in geometric progression", geometric_variances(n, largest));
    for (const UseCounts& counts : study.figures) {
      EXPECT_GE(counts.usable(), 0.95);
      EXPECT_GE(counts.usable_coverage(), 0.91);
    }
  }
}

// Medians at the edge of a group of equal ones: their intervals hold the population's in half of
// the draws, and their biases do not show it.
TEST(IntervalUseCoverage, OfMediansOfACrowdIsNeverCalledUsable) {
  VectorXd variances = multiple_at_top(4);
  variances[7] = 3;
  const UseStudy study = use_study("4 and 3 of 8, and one above", variances);
  for (const SpectralFigure figure : {kLambdaMedian, kMedianMagnitude}) {
    EXPECT_GE(study[figure].share(IntervalUse::kCrowdedMedian), 0.98);
    EXPECT_LE(study[figure].coverage(), 0.75);
  }
  EXPECT_GE(study[kLambdaMax].usable(), 0.98);
  for (const SpectralFigure figure : {kRobustEigenvalue, kRobustAbsolute, kRobustDiagonal}) {
    EXPECT_GE(study[figure].share(IntervalUse::kCrowdedMedian), 0.95);
  }
}

// Where two lie one to a few errors apart, the gap is found large where the larger one is found
// too large. Of all draws the intervals hold the population's; of those called usable fewer.
TEST(IntervalUseCoverage, OfTwoThatAreNearIsNotThatOfAllDraws) {
  for (const double gap : {0.1, 0.15, 0.2, 0.3}) {
    VectorXd variances = multiple_at_top(2);
    variances[6] = 1 - gap;
    const UseStudy study = use_study("two at a distance of " + std::to_string(gap), variances);
    EXPECT_GE(study[kLambdaMax].coverage(), 0.92);
    if (gap >= 0.2) {
      EXPECT_GE(study[kLambdaMax].usable_coverage(), 0.90);
    }
  }
}

}  // namespace
}  // namespace hesscope
