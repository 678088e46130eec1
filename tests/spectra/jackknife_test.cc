// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/internal/jackknife.h>

#include "support/matrices.h"

namespace hesscope {
namespace {

using detail::jackknife;
using detail::Jackknife;
using detail::sample_blocks;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double kTolerance = 1e-13;

double mean_outside(const VectorXd& x, SampleRange block) {
  double sum = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    if (i < block.begin || i >= block.end) sum += x[i];
  }
  return sum / static_cast<double>(x.size() - block.size());
}

template <typename Figure>
Jackknife of_figure_of_mean(const VectorXd& x, Index num_blocks, const Figure& figure) {
  const std::vector<SampleRange> blocks = sample_blocks(x.size(), num_blocks);
  VectorXd leave_one_out(num_blocks);
  for (Index b = 0; b < num_blocks; ++b) {
    leave_one_out[b] = figure(mean_outside(x, blocks[static_cast<std::size_t>(b)]));
  }
  return jackknife(figure(x.mean()), leave_one_out, blocks);
}

double identity(double x) { return x; }

double square(double x) { return x * x; }

TEST(Jackknife, IsThatOfNumbersOfAnySize) {
  const VectorXd x = test::random_matrix(40, 1, 3);
  const Jackknife wanted = of_figure_of_mean(x, 8, identity);
  for (const double scale : {1e-300, 1e-200, 1e-160, 1e160, 1e300}) {
    const Jackknife found = of_figure_of_mean(scale * x, 8, identity);
    EXPECT_NEAR(found.standard_error / scale, wanted.standard_error, kTolerance);
    EXPECT_NEAR(found.bias / scale, wanted.bias, kTolerance);
  }
}

TEST(SampleBlocks, TileTheSamplesAsEvenlyAsPossible) {
  for (const Index num_samples : {1, 2, 7, 32, 33, 1000}) {
    for (const Index num_blocks : {Index{1}, num_samples / 2, num_samples - 1, num_samples}) {
      if (num_blocks < 1) continue;
      const std::vector<SampleRange> blocks = sample_blocks(num_samples, num_blocks);
      ASSERT_EQ(static_cast<Index>(blocks.size()), num_blocks);
      EXPECT_EQ(blocks.front().begin, 0);
      EXPECT_EQ(blocks.back().end, num_samples);
      for (std::size_t b = 1; b < blocks.size(); ++b) {
        EXPECT_EQ(blocks[b].begin, blocks[b - 1].end);
        EXPECT_LE(blocks[b].size(), blocks[b - 1].size());
      }
      EXPECT_GE(blocks.back().size(), 1);
      EXPECT_LE(blocks.front().size() - blocks.back().size(), 1);
    }
  }
}

TEST(Jackknife, OfAMeanDeletingOneSampleIsTheTextbooksStandardError) {
  const VectorXd x = test::random_matrix(17, 1, 1);
  const double variance = (x.array() - x.mean()).square().sum() / 16.0;
  const Jackknife found = of_figure_of_mean(x, 17, identity);
  EXPECT_NEAR(found.standard_error / std::sqrt(variance / 17.0), 1.0, kTolerance);
  EXPECT_NEAR(found.bias, 0.0, kTolerance);
}

TEST(Jackknife, OfAMeanOverEqualBlocksIsThatOfTheBlockMeans) {
  const VectorXd x = test::random_matrix(60, 1, 2);
  const VectorXd means = x.reshaped(12, 5).colwise().mean();
  const double variance = (means.array() - x.mean()).square().sum() / 4.0;
  const Jackknife found = of_figure_of_mean(x, 5, identity);
  EXPECT_NEAR(found.standard_error / std::sqrt(variance / 5.0), 1.0, kTolerance);
}

// The pseudo-values of a mean are the block means m_j, so that
// variance = (1 / B) sum_j N_j / (N - N_j) (m_j - m)^2.
TEST(Jackknife, OfAMeanOverUnequalBlocksHasNoBiasAndItsClosedForm) {
  const VectorXd x = test::random_matrix(11, 1, 3);  // blocks of 3, 3, 3, 2
  double variance = 0.0;
  for (const SampleRange block : sample_blocks(11, 4)) {
    const auto size = static_cast<double>(block.size());
    const double deviation = x.segment(block.begin, block.size()).mean() - x.mean();
    variance += size / (11.0 - size) * deviation * deviation / 4.0;
  }
  const Jackknife found = of_figure_of_mean(x, 4, identity);
  EXPECT_NEAR(found.standard_error / std::sqrt(variance), 1.0, kTolerance);
  EXPECT_NEAR(found.bias, 0.0, kTolerance);
}

// E[m^2] - mu^2 = variance / N, and the jackknife gives just its unbiased estimate.
TEST(Jackknife, FindsTheBiasOfASquaredMean) {
  const VectorXd x = test::random_matrix(25, 1, 4);
  const double variance = (x.array() - x.mean()).square().sum() / 24.0;
  EXPECT_NEAR(of_figure_of_mean(x, 25, square).bias / (variance / 25.0), 1.0, kTolerance);
}

// The formulas as published, by pseudo-values.
TEST(Jackknife, OverUnequalBlocksIsThatOfBusingMeijerAndVanDerLeeden) {
  const VectorXd x = test::random_matrix(23, 1, 5);
  const std::vector<SampleRange> blocks = sample_blocks(23, 7);
  const double theta = square(x.mean());
  double theta_j = 7.0 * theta;
  for (const SampleRange block : blocks) {
    theta_j -= (1.0 - static_cast<double>(block.size()) / 23.0) * square(mean_outside(x, block));
  }
  double variance = 0.0;
  for (const SampleRange block : blocks) {
    const double h = 23.0 / static_cast<double>(block.size());
    const double pseudo_value = h * theta - (h - 1.0) * square(mean_outside(x, block));
    variance += (pseudo_value - theta_j) * (pseudo_value - theta_j) / (h - 1.0) / 7.0;
  }
  const Jackknife found = of_figure_of_mean(x, 7, square);
  EXPECT_NEAR(found.bias, theta - theta_j, kTolerance);
  EXPECT_NEAR(found.standard_error, std::sqrt(variance), kTolerance);
}

// In closed form for 1 and 2 degrees of freedom; from tables for more.
TEST(TwoSidedT, IsTheQuantileOfStudentsDistribution) {
  for (const double level : {0.5, 0.95, 0.999}) {
    const double cauchy = std::tan(0.5 * std::numbers::pi * level);
    EXPECT_NEAR(detail::two_sided_t(level, 1) / cauchy, 1.0, 1e-12);
    const double of_two = level * std::sqrt(2.0 / (1.0 - level * level));
    EXPECT_NEAR(detail::two_sided_t(level, 2) / of_two, 1.0, 1e-12);
  }
  EXPECT_NEAR(detail::two_sided_t(0.95, 31), 2.0395, 5e-5);
  EXPECT_NEAR(detail::two_sided_t(0.99, 9), 3.2498, 5e-5);
}

}  // namespace
}  // namespace hesscope
