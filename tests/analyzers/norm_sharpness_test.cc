// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/edge.h>
#include <hesscope/analyzers/norm_sharpness.h>
#include <hesscope/core/constants.h>
#include <hesscope/spectra/ball_maximum.h>

#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A matrix (2, 3) and a vector of 4, at theta = 0 with the gradient b.
class NormSharpnessTest : public ::testing::Test {
 protected:
  Group analyzed(const VectorXd& theta, const VectorXd& next, SpectrumMethod method) const {
    const std::vector<VectorXd> path = {theta, next};
    PointAnalysis point(objective_, theta, {.method = method});
    point.set_trajectory(std::make_shared<Trajectory>(path), 0);
    return kind_.create(Settings::checked({}, kind_.options, "test"))->analyze(point);
  }

  double edge(const VectorXd& theta, const VectorXd& next, const char* name) const {
    const std::vector<VectorXd> path = {theta, next};
    PointAnalysis point(objective_, theta, {.method = SpectrumMethod::kDense});
    point.set_trajectory(std::make_shared<Trajectory>(path), 0);
    return edge_analyzer().create(Settings())->analyze(point)[name].number();
  }

  const AnalyzerKind kind_ = norm_sharpness_analyzer();
  const MatrixXd h_ = test::random_symmetric(10, 4);
  const VectorXd b_ = test::random_matrix(10, 1, 5);
  const VectorXd zero_ = VectorXd::Zero(10);
  const VectorXd next_ = test::random_matrix(10, 1, 6);
  const std::vector<ParameterBlock> blocks_ = {{"W", {2, 3}, 0, 6}, {"b", {4}, 6, 4}};
  const test::QuadraticObjective objective_{{h_}, b_, 0, blocks_};
};

TEST_F(NormSharpnessTest, HasTheMaximaOnThreeBalls) {
  const Group found = analyzed(zero_, next_, SpectrumMethod::kDense);
  const auto expect = [&](const std::string& name, const BallMaximum& expected) {
    EXPECT_EQ(found[name + "_sharpness"].number(), expected.lower) << name;
    EXPECT_EQ(found[name + "_upper"].number(), expected.upper) << name;
    EXPECT_EQ(found[name + "_gap"].number(), expected.is_closed ? 1 : 0) << name;
    const std::vector<double>& direction = found[name + "_direction"].reals();
    const VectorXd d = Eigen::Map<const VectorXd>(direction.data(), 10);
    EXPECT_NEAR(d.dot(h_ * d), expected.lower, 1e-13) << name;
  };
  expect("linf", maximum_on_cube(h_));
  expect("block", maximum_on_block_balls(h_, blocks_));
  expect("spectral", maximum_on_spectral_balls(h_, blocks_));
  EXPECT_NEAR(found["linf_absolute_sum"].number(), h_.cwiseAbs().sum(), 1e-13);
  EXPECT_LT(found["linf_upper"].number(), found["linf_absolute_sum"].number());
}

TEST_F(NormSharpnessTest, DividesCurvatureAmongTensorsWithAndWithoutAMatrix) {
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const Group found = analyzed(zero_, next_, method);
    for (const auto& [name, u] : {std::pair("update", next_), std::pair("gradient", b_)}) {
      const std::string of = std::string(name) + "_curvature";
      const std::vector<double>& parts = found[of].reals();
      ASSERT_EQ(parts.size(), 4);
      const double cross = u.head(6).dot(h_.topRightCorner(6, 4) * u.tail(4)) / u.squaredNorm();
      EXPECT_NEAR(parts[1], cross, 1e-14);
      EXPECT_EQ(parts[1], parts[2]);
      EXPECT_NEAR(found[of + "_within"].number(), parts[0] + parts[3], 1e-14);
      EXPECT_NEAR(found[of + "_across"].number(), 2 * cross, 1e-14);
      EXPECT_NEAR(found[of + "_within"].number() + found[of + "_across"].number(),
                  edge(zero_, next_, of.c_str()),
                  1e-14);
    }
    const VectorXd sign = b_.cwiseSign();
    EXPECT_NEAR(found["linf_steepest_curvature"].number(), sign.dot(h_ * sign), 1e-13);
    const VectorXd factor = steepest_on_spectral_balls(b_, blocks_);
    EXPECT_NEAR(found["spectral_steepest_curvature"].number(), factor.dot(h_ * factor), 1e-13);
  }
}

TEST_F(NormSharpnessTest, WithoutAMatrixHasNoMaxima) {
  const Group found = analyzed(zero_, next_, SpectrumMethod::kMatrixFree);
  for (const char* name : {"linf_sharpness", "block_upper", "spectral_direction"}) {
    EXPECT_EQ(found[name].status(), Status::kNotComputed) << name;
  }
  for (const char* name : {"linf_gap", "block_gap", "spectral_gap"}) {
    EXPECT_FALSE(found[name].is_said()) << name;  // neither open nor closed
  }
}

TEST_F(NormSharpnessTest, WithoutGradientOrUpdateHasNoDirectionToLookAlong) {
  const VectorXd minimum = -test::solve_symmetric(h_, b_);
  const test::QuadraticObjective flat({h_}, {}, 0, blocks_);
  PointAnalysis point(flat, zero_, {.method = SpectrumMethod::kDense});
  const Group found = kind_.create(Settings::checked({}, kind_.options, "test"))->analyze(point);
  for (const char* name : {"gradient_curvature",
                           "gradient_curvature_across",
                           "linf_steepest_curvature",
                           "block_steepest_curvature"}) {
    EXPECT_EQ(found[name].status(), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(found["update_curvature_within"].status(), Status::kNotComputed);
  EXPECT_EQ(found["linf_sharpness"].status(), Status::kOk);
  const Group same = analyzed(minimum, minimum, SpectrumMethod::kDense);
  EXPECT_EQ(same["update_curvature"].status(), Status::kUndefinedZeroDenominator);
}

TEST_F(NormSharpnessTest, OfAnUpdateOfLastBitsIsUndefined) {
  const Group found = analyzed(next_, next_ * (1 + 0x1p-52), SpectrumMethod::kDense);
  for (const char* name :
       {"update_curvature", "update_curvature_within", "update_curvature_across"}) {
    EXPECT_EQ(found[name].status(), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(
      analyzed(next_, next_ * (1 + 1e-8), SpectrumMethod::kDense)["update_curvature"].status(),
      Status::kOk);
}

// The gradients of two samples cancel but for what rounding leaves.
TEST_F(NormSharpnessTest, OfAGradientWithinRoundingOfZeroIsUndefined) {
  const test::QuadraticObjective objective({1e15 * h_, h_ - 1e15 * h_}, {}, 0, blocks_);
  PointAnalysis point(objective, next_, {.method = SpectrumMethod::kDense});
  ASSERT_GT(point.gradient().norm(), 0.01);
  const Group found = kind_.create(Settings::checked({}, kind_.options, "test"))->analyze(point);
  for (const char* name : {"gradient_curvature",
                           "gradient_curvature_within",
                           "gradient_curvature_across",
                           "linf_steepest_curvature",
                           "block_steepest_curvature",
                           "spectral_steepest_curvature"}) {
    EXPECT_EQ(found[name].status(), Status::kUndefinedZeroDenominator) << name;
  }
}

TEST_F(NormSharpnessTest, OfWeightsThatAreNaNIsMissing) {
  const Group found = analyzed(VectorXd::Constant(10, kNaN), next_, SpectrumMethod::kDense);
  for (const Variable& variable : found.variables) {
    if (variable.type == VariableType::kInt8) {
      EXPECT_FALSE(variable.is_said()) << variable.name;
    } else {
      EXPECT_EQ(variable.status(), Status::kNonFinite) << variable.name;
    }
  }
}

// A tensor, or an entry, whose gradient is rounding compared with the whole has no direction.
TEST_F(NormSharpnessTest, LeavesOutOfSteepestDescentWhatIsRounding) {
  VectorXd b = b_;
  b.tail(4).setConstant(1e-17);
  const test::QuadraticObjective almost{{h_}, b, 0, blocks_};
  b.tail(4).setZero();
  const test::QuadraticObjective without{{h_}, b, 0, blocks_};
  const auto steepest = [&](const Objective& objective, const std::string& name) {
    PointAnalysis point(objective, zero_, {.method = SpectrumMethod::kDense});
    const auto analyzer = kind_.create(Settings::checked({}, kind_.options, "test"));
    return analyzer->analyze(point)[name + "_steepest_curvature"].number();
  };
  for (const std::string name : {"linf", "block", "spectral"}) {
    EXPECT_EQ(steepest(almost, name), steepest(without, name)) << name;
  }
}

}  // namespace
}  // namespace hesscope
