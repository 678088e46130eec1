// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/invariance.h>
#include <hesscope/paths/internal/orbit.h>

#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

const AffineGenerator kScaling{.linear = {{0, 0, 1.0}, {1, 1, -1.0}}, .constant = {}};
const AffineGenerator kRotation{.linear = {{0, 1, -1.0}, {1, 0, 1.0}}, .constant = {}};
const AffineGenerator kShift{.linear = {}, .constant = {{0, 2.0}}};

VectorXd along(const AffineGenerator& generator, double time, const VectorXd& theta) {
  return detail::flowed(std::vector{generator}, VectorXd::Constant(1, time), theta);
}

TEST(Flow, IsTheExponentialToRounding) {
  const Vector2d theta(0.7, -1.3);
  for (const double t : {0.0, 1e-3, 0.5, -2.5, 9.0}) {
    const VectorXd scaled = along(kScaling, t, theta);
    EXPECT_NEAR(scaled[0], 0.7 * std::exp(t), 4e-15 * std::exp(std::abs(t)));
    EXPECT_NEAR(scaled[1], -1.3 * std::exp(-t), 4e-15 * std::exp(std::abs(t)));
    const VectorXd turned = along(kRotation, t, theta);
    EXPECT_NEAR(turned[0], std::cos(t) * 0.7 + std::sin(t) * 1.3, 1e-14);
    EXPECT_NEAR(turned[1], std::sin(t) * 0.7 - std::cos(t) * 1.3, 1e-14);
    EXPECT_DOUBLE_EQ(along(kShift, t, theta)[0], 0.7 + 2 * t);
  }
}

// theta' = theta + 1: e^t (theta + 1) - 1.
TEST(Flow, IsAffine) {
  const AffineGenerator growth{.linear = {{0, 0, 1.0}}, .constant = {{0, 1.0}}};
  const VectorXd at = along(growth, 1.5, VectorXd::Constant(1, 0.25));
  EXPECT_NEAR(at[0], std::exp(1.5) * 1.25 - 1, 1e-14);
}

TEST(Flow, OfWhatIsTooFarIsNotANumber) {
  EXPECT_TRUE(along(kScaling, 1e6, Vector2d(1, 1)).hasNaN());
}

TEST(NearestOnOrbit, TurnsAPointOntoTheRay) {
  const Vector2d reference(3, 4);
  const Vector2d theta(1, -2);
  const VectorXd found = detail::nearest_on_orbit(std::vector{kRotation}, reference, theta, {});
  EXPECT_NEAR((found - theta.norm() * reference / 5).norm(), 0, 1e-7);
  EXPECT_NEAR(found.norm(), theta.norm(), 1e-13);
}

// On x y = 6 the point nearest to the origin is (sqrt(6), sqrt(6)).
TEST(NearestOnOrbit, BalancesAProduct) {
  const VectorXd found =
      detail::nearest_on_orbit(std::vector{kScaling}, Vector2d::Zero(), Vector2d(60, 0.1), {});
  EXPECT_NEAR(found[0], std::sqrt(6), 1e-7);
  EXPECT_NEAR(found[1], std::sqrt(6), 1e-7);
  EXPECT_NEAR(found[0] * found[1], 6, 1e-13);
}

TEST(NearestOnOrbit, WithoutGeneratorsIsThePoint) {
  const Vector2d theta(1, 2);
  EXPECT_EQ(detail::nearest_on_orbit({}, Vector2d(0, 0), theta, {}), theta);
}

// Generators that depend on each other, and one that does nothing.
TEST(NearestOnOrbit, BearsDependentGenerators) {
  const AffineGenerator nothing{};
  const VectorXd found = detail::nearest_on_orbit(
      std::vector{kScaling, kScaling, nothing}, Vector2d(2, 3), Vector2d(20, 0.3), {});
  EXPECT_NEAR((found - Vector2d(2, 3)).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace hesscope
