// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"

namespace hesscope {
namespace {

// At (-1, 2) the Hessian of Rosenbrock's function is [1200 - 800 + 2, 400; 400, 200].
TEST(HessianAnalyzer, GivesDiagonalTraceNormAndMatrix) {
  const Analysis analysis = analyze(test::rosenbrock(),
                                    {{"here", Eigen::Vector2d(-1, 2)}},
                                    {},
                                    {.options = {{"save-hessian", true}}});
  EXPECT_EQ(analysis[0].values("hessian", "diagonal"), Eigen::Vector2d(402, 200));
  EXPECT_EQ(analysis[0].number("hessian", "trace"), 602);
  // 402^2 + 2 400^2 + 200^2
  EXPECT_NEAR(analysis[0].number("hessian", "frobenius_norm"), std::sqrt(521604.0), 1e-12);
  EXPECT_EQ(analysis[0].values("hessian", "matrix"), Eigen::Vector4d(402, 400, 400, 200));
}

TEST(HessianAnalyzer, StoresTheMatrixOnlyWhenAsked) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(1, 1)}}, {"hessian"});
  const Group& answer = analysis[0].group("hessian");
  EXPECT_NE(answer.find("diagonal"), nullptr);
  EXPECT_EQ(answer.find("matrix"), nullptr);
}

TEST(HessianAnalyzer, OfAPlaneIsZero) {
  const test::QuadraticObjective plane({Eigen::MatrixXd::Zero(3, 3)}, Eigen::Vector3d(1, 2, 3));
  const Analysis analysis = analyze(plane, {{"here", Eigen::Vector3d::Ones()}}, {"hessian"});
  EXPECT_EQ(analysis[0].number("hessian", "trace"), 0);
  EXPECT_EQ(analysis[0].number("hessian", "frobenius_norm"), 0);
  EXPECT_EQ(analysis[0].status("hessian", "frobenius_norm"), Status::kOk);
}

TEST(HessianAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(kNaN, 1)}}, {"hessian"});
  EXPECT_EQ(analysis[0].point_status(), Status::kNonFinite);
  for (const char* name : {"diagonal", "trace", "frobenius_norm"}) {
    EXPECT_EQ(analysis[0].status("hessian", name), Status::kNonFinite) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("hessian", name))) << name;
  }
  EXPECT_FALSE(analysis.is_conclusive());
}

TEST(HessianAnalyzer, IsNotMadeWithoutAMatrix) {
  const Analysis analysis = analyze(test::rosenbrock(),
                                    {{"here", Eigen::Vector2d(1, 1)}},
                                    {"hessian"},
                                    {.method = SpectrumMethod::kMatrixFree});
  EXPECT_EQ(analysis[0].status("hessian", "trace"), Status::kNotComputed);
}

}  // namespace
}  // namespace hesscope
