// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/analyzers/population.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/settings.h>
#include <hesscope/spectra/sampling_error.h>

#include "support/gaussian_samples.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Gaussian vectors x, whose Hessians x x^T have a mean of known eigenvalues; the k-th of 32 ranges
// of equally many has the k-th of the blocks.
class GaussianSamples final : public FreshSamples {
 public:
  explicit GaussianSamples(const VectorXd& variances, Index block_size)
      : blocks_(test::blocks_of_covariance(variances, block_size, 1)) {}

  Index num_parameters() const override { return blocks_.front().rows(); }

  Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& /*theta*/,
                                                 const Range& /*range*/) const override {
    return {};
  }

  MatrixXd hessian(const Objective::ConstVectorRef& /*theta*/,
                   const Range& range,
                   const ProgressCallback& /*progress*/) const override {
    return blocks_.at(range.first / static_cast<std::uint64_t>(range.count));
  }

  VectorXd hessian_entries(const Objective::ConstVectorRef& /*theta*/,
                           const Range& range,
                           Index /*i*/) const override {
    return VectorXd::LinSpaced(range.count, 1, 2);
  }

 private:
  std::vector<MatrixXd> blocks_;
};

class PopulationAnalyzerTest : public ::testing::Test {
 protected:
  static constexpr Index kNumSamples = 640;  // one rung

  static Group population_of(const VectorXd& variances, double theta = 1) {
    const AnalyzerKind kind = population_analyzer();
    const auto analyzer = kind.create(
        Settings::checked({{"population", std::int64_t{kNumSamples}}}, kind.options, "options"));
    const Index n = variances.size();
    const test::QuadraticObjective objective({MatrixXd::Identity(n, n)});
    const GaussianSamples samples(variances, kNumSamples / 32);
    PointAnalysis point(
        objective, VectorXd::Constant(n, theta), {.method = SpectrumMethod::kDense});
    point.set_fresh_samples(&samples);
    return analyzer->analyze(point);
  }

  static std::vector<std::int8_t> flags(const Group& group, std::string_view figure) {
    return std::get<std::vector<std::int8_t>>(group[std::string(figure) + "_interval"].values);
  }
};

using Flags = std::vector<std::int8_t>;

TEST_F(PopulationAnalyzerTest, FlagsIntervalsThatMissThePopulation) {
  const Group crowd = population_of(VectorXd::Ones(20));
  for (const char* figure : {"lambda_max", "robust_eigenvalue", "robust_absolute"}) {
    EXPECT_GT(crowd[std::string(figure) + "_lower"].number(), 1);  // which the population has
    EXPECT_EQ(flags(crowd, figure), Flags{2}) << figure;
  }
  EXPECT_EQ(flags(crowd, "lambda_median"), Flags{3});
  EXPECT_GT(crowd["lambda_max_bias"].number(), crowd["lambda_max_standard_error"].number());
  const Group apart = population_of(VectorXd::LinSpaced(7, 0, std::log(1e6)).array().exp());
  for (const std::string_view figure : kSpectralFigureNames) {
    EXPECT_EQ(flags(apart, figure), Flags{1}) << figure;
  }
}

TEST_F(PopulationAnalyzerTest, HasTheBiasesOfTheJackknife) {
  const VectorXd variances = VectorXd::LinSpaced(5, 1, 9);
  const Group group = population_of(variances);
  const SamplingErrors errors =
      sampling_errors_of_blocks(test::blocks_of_covariance(variances, 20, 1), 0.95).errors;
  for (std::size_t f = 0; f < kSpectralFigureNames.size(); ++f) {
    const std::string name(kSpectralFigureNames[f]);
    EXPECT_EQ(group[name + "_bias"].number(), errors.figures[f].bias) << name;
    EXPECT_EQ(group[name + "_lower"].number(), errors.figures[f].lower) << name;
  }
}

TEST_F(PopulationAnalyzerTest, OfWeightsThatAreNaNKnowsOfNoInterval) {
  const Group group = population_of(VectorXd::Ones(3), kNaN);
  EXPECT_EQ(group["lambda_max_bias"].status(), Status::kNonFinite);
  for (const std::string_view figure : kSpectralFigureNames) {
    EXPECT_EQ(flags(group, figure), Flags{0}) << figure;
  }
}

}  // namespace
}  // namespace hesscope
