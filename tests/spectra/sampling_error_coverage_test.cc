// SPDX-License-Identifier: BSD-3-Clause
//
// Whether nominal 95 % intervals contain the population's figures: 200 data sets of N samples,
// drawn from populations with a known Hessian. "In the band" is 90 to 99 % of the draws. For other
// cases, the coverage is recorded.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>

#include "support/gaussian_samples.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;

constexpr int kNumDraws = 200;
constexpr std::size_t kNumFigures = kSpectralFigureNames.size();

// Over the draws: how many intervals are below and above the population's figure, or missing.
struct Coverage {
  int num_below = 0;
  int num_above = 0;
  int num_undefined = 0;

  double percent() const {
    return 100.0 * (1.0 - static_cast<double>(num_below + num_above + num_undefined) / kNumDraws);
  }
};

struct Study {
  std::array<Coverage, kNumFigures> full;
  std::array<Coverage, kNumFigures> first_order;
};

std::array<double, kNumFigures> figures_of(const MatrixXd& h) {
  const Spectrum spectrum = dense_spectrum(h);
  const ConditionNumbers numbers = condition_numbers(h.diagonal(), spectrum);
  return {spectrum.largest.value,
          spectrum.smallest.value,
          spectrum.median.value,
          spectrum.median_magnitude,
          numbers.robust_eigenvalue.value,
          numbers.robust_absolute.value,
          numbers.robust_diagonal.value};
}

void count(const SamplingErrors& errors,
           const std::array<double, kNumFigures>& population,
           std::array<Coverage, kNumFigures>& coverage) {
  for (std::size_t f = 0; f < kNumFigures; ++f) {
    const SamplingError& error = errors.figures[f];
    if (error.status != Status::kOk) {
      ++coverage[f].num_undefined;
    } else if (!(error.upper >= population[f])) {
      ++coverage[f].num_below;
    } else if (!(error.lower <= population[f])) {
      ++coverage[f].num_above;
    }
  }
}

Study study_of(const MatrixXd& population,
               const VectorXd& theta,
               const std::function<std::unique_ptr<Objective>(std::uint64_t seed)>& draw) {
  const std::array<double, kNumFigures> figures = figures_of(population);
  Study study;
  for (std::uint64_t seed = 0; seed < kNumDraws; ++seed) {
    const SamplingErrorEstimates errors = sampling_errors(*draw(seed), theta);
    count(errors.full, figures, study.full);
    count(errors.first_order, figures, study.first_order);
  }
  std::printf("  %-18s %10s   full: below above undefined   first order: the same\n",
              "figure",
              "population");
  for (std::size_t f = 0; f < kNumFigures; ++f) {
    const std::string name(kSpectralFigureNames[f]);
    std::printf("  %-18s %10.4g ", name.c_str(), figures[f]);
    for (const auto* coverage : {&study.full, &study.first_order}) {
      const Coverage& c = (*coverage)[f];
      std::printf(
          "  %5.1f %%  %3d %3d %3d      ", c.percent(), c.num_below, c.num_above, c.num_undefined);
    }
    std::printf("\n");
    testing::Test::RecordProperty(name + "_full", std::to_string(study.full[f].percent()));
    testing::Test::RecordProperty(name + "_first_order",
                                  std::to_string(study.first_order[f].percent()));
  }
  return study;
}

void expect_in_band(const std::array<Coverage, kNumFigures>& coverage,
                    const std::vector<SpectralFigure>& figures) {
  for (const SpectralFigure figure : figures) {
    const double percent = coverage[index_of(figure)].percent();
    EXPECT_TRUE(percent >= 90.0 && percent <= 99.0)
        << kSpectralFigureNames[index_of(figure)] << ": " << percent << " %";
  }
}

void expect_at_least_ninety_percent(const std::array<Coverage, kNumFigures>& coverage,
                                    const std::vector<SpectralFigure>& figures) {
  for (const SpectralFigure figure : figures) {
    const double percent = coverage[index_of(figure)].percent();
    EXPECT_TRUE(percent >= 90.0) << kSpectralFigureNames[index_of(figure)] << ": " << percent
                                 << " %";
  }
}

// A_i = r_i r_i^T + s_i K: r_i Gaussian of covariance C, s_i of mean 1 and deviation 0.5, K
// symmetric and indefinite. The population's Hessian is C + K.
class Population {
 public:
  // C has eigenvalues from 1 to 30, in geometric progression.
  Population()
      : factor_(test::with_eigenvalues(
            VectorXd::LinSpaced(kSize, 0.0, 0.5 * std::log(30.0)).array().exp(), 3)),
        k_(0.1 * test::random_symmetric(kSize, 2)) {}

  MatrixXd hessian() const { return factor_ * factor_.transpose() + k_; }

  std::unique_ptr<Objective> draw(Index num_samples, std::uint64_t seed) const {
    std::mt19937_64 engine(seed);
    const MatrixXd r = factor_ * detail::standard_normal(kSize, num_samples, engine);
    const VectorXd s = 1.0 + 0.5 * detail::standard_normal(num_samples, 1, engine).array();
    std::vector<MatrixXd> matrices;
    for (Index i = 0; i < num_samples; ++i) {
      matrices.emplace_back(r.col(i) * r.col(i).transpose() + s[i] * k_);
    }
    return std::make_unique<test::QuadraticObjective>(std::move(matrices));
  }

  static constexpr Index kSize = 12;

 private:
  MatrixXd factor_;  // C = factor factor^T
  MatrixXd k_;
};

// The largest entries of the diagonal are nearly equal: the first order, which follows only one of
// them, then overestimates the error of robust_diagonal.
TEST(SamplingErrorCoverage, OfSumsOfRandomMatricesIsInTheBand) {
  const Population population;
  const Study study = study_of(population.hessian(),
                               VectorXd::Zero(Population::kSize),
                               [&](std::uint64_t seed) { return population.draw(1000, seed); });
  const std::vector<SpectralFigure> eigenvalues = {
      kLambdaMax, kLambdaMin, kLambdaMedian, kMedianMagnitude, kRobustEigenvalue, kRobustAbsolute};
  expect_in_band(study.full, eigenvalues);
  expect_in_band(study.full, {kRobustDiagonal});
  expect_in_band(study.first_order, eigenvalues);
  expect_at_least_ninety_percent(study.first_order, {kRobustDiagonal});
}

// Counts over 30 draws of 4,000 Gaussian vectors whose covariance has these eigenvalues, in
// ascending order.
struct OfExtremes {
  std::array<int, 2> num_held = {};  // of lambda_min, of lambda_max
  double least_bias = kInfinity;     // |bias| / standard error of either
  double largest_bias = 0;
};

OfExtremes of_covariance(const VectorXd& eigenvalues) {
  constexpr Index kBlockSize = 125;
  const Index n = eigenvalues.size();
  OfExtremes found;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::vector<MatrixXd> blocks = test::blocks_of_covariance(eigenvalues, kBlockSize, seed);
    const SamplingErrors errors = sampling_errors_of_blocks(blocks, 0.95).errors;
    for (const bool is_max : {false, true}) {
      const SamplingError& error = errors[is_max ? kLambdaMax : kLambdaMin];
      const double truth = eigenvalues[is_max ? n - 1 : 0];
      found.num_held[is_max ? 1 : 0] += error.lower <= truth && truth <= error.upper ? 1 : 0;
      const double bias = std::abs(error.bias) / error.standard_error;
      found.least_bias = test::smaller(found.least_bias, bias);
      found.largest_bias = test::larger(found.largest_bias, bias);
    }
  }
  return found;
}

TEST(SamplingErrorCoverage, OfCrowdedExtremesIsNextToNoneAndTheBiasTells) {
  VectorXd plateaus = VectorXd::Ones(60);
  plateaus.tail(30).setConstant(9);
  for (const VectorXd& crowded : {VectorXd(VectorXd::Ones(60)), plateaus}) {
    const OfExtremes found = of_covariance(crowded);
    EXPECT_LE(found.num_held[0], 3);
    EXPECT_EQ(found.num_held[1], 0);
    EXPECT_GT(found.least_bias, 1);
  }
  const VectorXd decades = VectorXd::LinSpaced(10, 0, std::log(1000.0)).array().exp();
  const OfExtremes apart = of_covariance(decades);
  for (const int num_held : apart.num_held) EXPECT_GE(num_held, 27);
  EXPECT_LT(apart.largest_bias, 0.5);
}

// Prompts of linear regression in context: covariates and weights independent with mean 0 and
// variance 1.
enum class Tails { kUniform, kGaussian };

class Prompts {
 public:
  explicit Prompts(Tails tails)
      : tails_(tails),
        model_(linear_attention({.layers = 2, .dimension = kDimension, .context = kContext})) {}

  const Model& model() const { return model_; }

  std::unique_ptr<GraphObjective> draw(Index num_prompts, std::uint64_t seed) const {
    std::mt19937_64 engine(seed);
    SampleTable table(num_prompts, model_.record_size());
    MatrixXd z(kDimension + 1, kContext + 1);
    for (Index i = 0; i < num_prompts; ++i) {
      const VectorXd w = numbers(1, engine);
      z.topRows(kDimension) = numbers(kContext + 1, engine);
      z.bottomRows(1) = w.transpose() * z.topRows(kDimension);
      table(i, z.size()) = z(kDimension, kContext);  // the target
      z(kDimension, kContext) = 0.0;
      const MatrixXd rows = z.transpose();  // a record holds Z row by row
      table.row(i).head(z.size()) = rows.reshaped().transpose();
    }
    return std::make_unique<GraphObjective>(model_, std::move(table));
  }

  // Random weights after 100 steps of Adam. At random weights the median eigenvalue is zero: a
  // quarter of the parameters is dead, and half of the other eigenvalues are negative.
  VectorXd theta() const {
    const std::unique_ptr<GraphObjective> objective = draw(4000, 1U << 20);
    const Index n = model_.num_parameters();
    std::mt19937_64 engine(2);
    VectorXd theta = 0.3 * detail::standard_normal(n, 1, engine);
    VectorXd mean = VectorXd::Zero(n);
    VectorXd square = VectorXd::Zero(n);
    for (int step = 1; step <= 100; ++step) {
      const VectorXd g = objective->gradient(theta);
      mean = 0.9 * mean + 0.1 * g;
      square = 0.99 * square + 0.01 * g.cwiseAbs2();
      const VectorXd scale = (square / (1.0 - std::pow(0.99, step))).cwiseSqrt().array() + 1e-8;
      theta -= 0.02 / (1.0 - std::pow(0.9, step)) * mean.cwiseQuotient(scale);
    }
    return theta;
  }

  // The mean over 200,000 prompts that are in no other draw.
  MatrixXd hessian(const VectorXd& theta) const {
    constexpr int kNumParts = 10;
    MatrixXd sum = MatrixXd::Zero(theta.size(), theta.size());
    for (std::uint64_t part = 0; part < kNumParts; ++part) {
      sum += draw(20000, (1U << 21) + part)->hessian(theta);
    }
    return sum / kNumParts;
  }

  Study study(Index num_prompts) const {
    const VectorXd at = theta();
    return study_of(hessian(at), at, [&](std::uint64_t seed) { return draw(num_prompts, seed); });
  }

 private:
  static constexpr Index kDimension = 3;
  static constexpr Index kContext = 20;

  MatrixXd numbers(Index cols, std::mt19937_64& engine) const {
    if (tails_ == Tails::kGaussian) return detail::standard_normal(kDimension, cols, engine);
    return MatrixXd::NullaryExpr(kDimension, cols, [&engine] {
      const double unit = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
      return std::numbers::sqrt3 * unit;
    });
  }

  Tails tails_;
  Model model_;
};

// Eigenvalues around the median are nearer to each other than their errors are large: intervals of
// the median and of the ratio by it hold the population's figure in 98 to 100 % of draws.
TEST(SamplingErrorCoverage, OfLinearAttentionIsInTheBandButForCrowdedMedians) {
  const Study study = Prompts(Tails::kUniform).study(1000);
  expect_in_band(study.full, {kLambdaMax, kLambdaMin, kRobustAbsolute, kRobustDiagonal});
  expect_at_least_ninety_percent(study.full, {kLambdaMedian, kMedianMagnitude, kRobustEigenvalue});
  expect_in_band(study.first_order, {kLambdaMax, kRobustAbsolute, kRobustDiagonal});
  expect_at_least_ninety_percent(study.first_order, {kLambdaMedian, kRobustEigenvalue});
}

// Prompts whose tails most samples do not see.
TEST(SamplingErrorCoverage, OfLinearAttentionWithHeavyTailsIsInTheBandForTheExtremes) {
  const Study study = Prompts(Tails::kGaussian).study(4000);
  expect_in_band(study.full, {kLambdaMax, kLambdaMin});
}

}  // namespace
}  // namespace hesscope
