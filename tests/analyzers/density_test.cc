// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/dataset/result_reader.h>

#include "support/closed_form_objectives.h"
#include "support/files.h"

namespace hesscope {
namespace {

// As many probes as parameters are the unit vectors: nothing is left to chance.
Analysis density_of(const Eigen::MatrixXd& matrix, std::int64_t num_probes) {
  const test::QuadraticObjective objective({matrix});
  return analyze(objective,
                 {{"here", Eigen::VectorXd::Ones(matrix.rows())}},
                 {"density"},
                 {.options = {{"probes", num_probes}}});
}

// I - 1 1^T / 2 is a reflection, so that the matrix has the eigenvalues 8, -3, 0 and 1.
Eigen::Matrix4d matrix_of_known_density() {
  const Eigen::Matrix4d q = Eigen::Matrix4d::Identity() - 0.5 * Eigen::Matrix4d::Ones();
  return q * Eigen::Vector4d(8, -3, 0, 1).asDiagonal() * q;
}

TEST(DensityAnalyzer, OfAllUnitVectorsIsExact) {
  const Analysis analysis = density_of(matrix_of_known_density(), 4);
  const PointAnswers& found = analysis[0];
  EXPECT_NEAR(found.number("density", "trace_estimate"), 6, 1e-13);
  EXPECT_EQ(found.number("density", "trace_standard_error"), 0);
  EXPECT_NEAR(found.number("density", "squared_frobenius_norm_estimate"), 74, 1e-12);
  EXPECT_NEAR(found.number("density", "sigma"), 0.11, 1e-14);      // 1 % of 8 + 3
  EXPECT_NEAR(found.number("density", "zero_mass"), 0.25, 1e-14);  // one of four
  EXPECT_NEAR(found.number("density", "wasserstein_distance"), 0, 1e-12);
  EXPECT_NEAR(found.number("density", "relative_wasserstein_distance"), 0, 1e-13);
}

TEST(DensityAnalyzer, DensitiesHaveTheMassOfTheirEigenvalues) {
  const Analysis analysis = density_of(matrix_of_known_density(), 4);
  const PointAnswers& found = analysis[0];
  const Eigen::VectorXd at = found.values("density", "eigenvalue");
  ASSERT_EQ(at.size(), 2000);
  const double spacing = at[1] - at[0];
  // The trapezoidal rule is exact to rounding for Gaussians of 17 points a sigma, and leaves out
  // what is 8 sigma away.
  EXPECT_NEAR(found.values("density", "density").sum() * spacing, 1, 1e-12);
  EXPECT_NEAR(found.values("density", "exact_density").sum() * spacing, 1, 1e-12);
  const Eigen::VectorXd decades = found.values("density", "log10_magnitude");
  const double decade = decades[1] - decades[0];
  EXPECT_NEAR(found.values("density", "log_density_negative").sum() * decade, 0.25, 1e-12);
  EXPECT_NEAR(found.values("density", "log_density_positive").sum() * decade, 0.5, 1e-12);
}

// A unit vector that is an eigenvector ends its rule after one node; the others are filled up, so
// that the result can be written.
TEST(DensityAnalyzer, FillsUpRulesThatAllEndEarly) {
  const Analysis analysis = density_of(Eigen::Vector3d(1, 2, 10).asDiagonal(), 3);
  const Eigen::VectorXd nodes = analysis[0].values("density", "nodes");
  const Eigen::VectorXd weights = analysis[0].values("density", "weights");
  ASSERT_EQ(nodes.size(), 9);
  const double diagonal[] = {1, 2, 10};
  for (Eigen::Index probe = 0; probe < 3; ++probe) {
    EXPECT_EQ(nodes[3 * probe], diagonal[probe]);
    EXPECT_EQ(weights[3 * probe], 1);
    for (Eigen::Index k = 1; k < 3; ++k) {
      EXPECT_TRUE(std::isnan(nodes[3 * probe + k]));
      EXPECT_EQ(weights[3 * probe + k], 0);
    }
  }
  const test::ScratchFolder folder;
  analysis.write(folder / "density.h5");
  EXPECT_EQ(io::ResultReader(folder / "density.h5").read_doubles("density", "nodes").size(), 9U);
}

TEST(DensityAnalyzer, OfOneProbeHasNoStandardError) {
  const Analysis analysis = density_of(matrix_of_known_density(), 1);
  EXPECT_EQ(analysis[0].status("density", "trace_estimate"), Status::kOk);
  EXPECT_EQ(analysis[0].status("density", "trace_standard_error"), Status::kNotComputed);
  EXPECT_TRUE(std::isnan(analysis[0].number("density", "trace_standard_error")));
}

TEST(DensityAnalyzer, OfOneStepHasATraceButNoSquaredNorm) {
  const test::QuadraticObjective objective({matrix_of_known_density()});
  for (const int steps : {1, 2}) {
    const Analysis analysis = analyze(objective,
                                      {{"here", Eigen::VectorXd::Ones(4)}},
                                      {"density"},
                                      {.options = {{"probes", 4}, {"lanczos-steps", steps}}});
    EXPECT_NEAR(analysis[0].number("density", "trace_estimate"), 6, 1e-13);
    for (const char* name :
         {"squared_frobenius_norm_estimate", "squared_frobenius_norm_standard_error"}) {
      EXPECT_EQ(analysis[0].status("density", name),
                steps == 1 ? Status::kNotComputed : Status::kOk)
          << name;
    }
  }
}

TEST(DensityAnalyzer, OfLargeEigenvaluesHasNoSquaredNorm) {
  const Analysis analysis = density_of(1e200 * matrix_of_known_density(), 4);
  EXPECT_EQ(analysis[0].status("density", "trace_estimate"), Status::kOk);
  for (const char* name :
       {"squared_frobenius_norm_estimate", "squared_frobenius_norm_standard_error"}) {
    EXPECT_EQ(analysis[0].status("density", name), Status::kNonFinite) << name;
  }
}

TEST(DensityAnalyzer, OfEqualEigenvaluesHasNoRelativeDistance) {
  const Analysis analysis = density_of(2 * Eigen::Matrix2d::Identity(), 2);
  EXPECT_EQ(analysis[0].number("density", "trace_estimate"), 4);
  EXPECT_EQ(analysis[0].number("density", "wasserstein_distance"), 0);
  EXPECT_EQ(analysis[0].status("density", "relative_wasserstein_distance"),
            Status::kUndefinedZeroDenominator);
}

TEST(DensityAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(kNaN, 0)}}, {"density"});
  for (const char* name : {"nodes", "trace_estimate", "density", "wasserstein_distance"}) {
    EXPECT_EQ(analysis[0].status("density", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
