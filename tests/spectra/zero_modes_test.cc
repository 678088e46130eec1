// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/spectra/zero_modes.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

struct Point {
  Eigen::VectorXd theta;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  std::vector<Invariance> invariances;

  ZeroModes explained(const ZeroModesOptions& options = {}) const {
    return explain_zero_modes(
        theta, gradient, invariances, hessian, dense_spectrum(hessian), options);
  }
};

Invariance family(std::string name, std::vector<AffineGenerator> generators) {
  const auto count = static_cast<Eigen::Index>(generators.size());
  return {std::move(name), count, [generators](Eigen::Index k) {
            return generators[static_cast<std::size_t>(k)];
          }};
}

// (p, q) -> (c p, q / c)
AffineGenerator hyperbola_generator() { return {{{0, 0, 1.0}, {1, 1, -1.0}}, {}}; }

// f = (p q - a)^2 / 2
Point hyperbola(double p, double q, double a) {
  const double r = p * q - a;
  Point point{Eigen::Vector2d(p, q), Eigen::Vector2d(r * q, r * p), Eigen::MatrixXd(2, 2), {}};
  point.hessian << q * q, p * q + r, p * q + r, p * p;
  point.invariances = {family("hyperbola", {hyperbola_generator()})};
  return point;
}

// A quadratic of n variables with the curvatures given, stationary, in the coordinates' directions.
Point valley(const Eigen::VectorXd& curvatures) {
  return {Eigen::VectorXd::Ones(curvatures.size()),
          Eigen::VectorXd::Zero(curvatures.size()),
          curvatures.asDiagonal(),
          {}};
}

// (1, ..., 1) is the only null vector of L: the Laplacian of a ring of n vertices.
Eigen::MatrixXd ring(Eigen::Index n) {
  Eigen::MatrixXd L = 2.0 * Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    L(i, (i + 1) % n) -= 1.0;
    L((i + 1) % n, i) -= 1.0;
  }
  return L;
}

AffineGenerator shift_of(const Eigen::VectorXd& direction) {
  AffineGenerator generator;
  for (Eigen::Index i = 0; i < direction.size(); ++i) {
    if (direction[i] != 0.0) generator.constant.push_back({i, direction[i]});
  }
  return generator;
}

// What samples' slopes along a parameter cancel to is no reason to call it dead.
TEST(ZeroModes, AParameterThatTheLossIsLinearInIsNotDead) {
  const Point point = valley(Eigen::Vector3d(2, 0, 0));
  const Eigen::VectorXd slopes = Eigen::Vector3d(1, 0.5, 0);
  const ZeroModes modes = point.explained({.sample_slopes = &slopes, .want_basis = true});
  EXPECT_EQ(modes.num_dead, 1);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unexplained, 1);
  EXPECT_EQ(modes.basis, Eigen::MatrixXd(Eigen::Vector3d(0, 0, 1)));
  const ZeroModes without = point.explained();
  EXPECT_EQ(without.num_dead, 2);
  EXPECT_EQ(without.num_unexplained, 0);
  const Eigen::VectorXd short_slopes = Eigen::Vector2d(1, 0);
  test::expect_refusal<PreconditionError>(
      [&] { point.explained({.sample_slopes = &short_slopes}); },
      "sample_slopes must have 3 entries");
}

// A row that is zero at this point alone is of a loss that rises or falls by higher terms.
TEST(ZeroModes, AParameterWhoseRowIsZeroHereAloneIsNotDead) {
  const Point point = valley(Eigen::Vector3d(2, 0, 0));
  const Eigen::VectorXd rows = Eigen::Vector3d(1, 0, 1e-3);
  const ZeroModes modes = point.explained({.rows_nearby = &rows, .want_basis = true});
  EXPECT_EQ(modes.num_dead, 1);
  EXPECT_EQ(modes.dead, Eigen::VectorXd(Eigen::Vector3d(0, 1, 0)));
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unexplained, 1);
  EXPECT_EQ(modes.basis, Eigen::MatrixXd(Eigen::Vector3d(0, 1, 0)));
  const Eigen::VectorXd short_rows = Eigen::Vector2d(1, 0);
  test::expect_refusal<PreconditionError>([&] { point.explained({.rows_nearby = &short_rows}); },
                                          "rows_nearby must have 3 entries");
}

// A shift along a linear parameter leaves no loss as it is, whatever its row of H says; a shift of
// two that keeps the loss does, and is found although both rows are zero.
TEST(ZeroModes, AShiftOfTwoLinearParametersIsExplainedOnce) {
  Point point = valley(Eigen::Vector3d(2, 0, 0));
  point.gradient = Eigen::Vector3d(0, 1, -1);
  point.invariances = {family("shift", {shift_of(Eigen::Vector3d(0, 1, 1))})};
  const Eigen::VectorXd slopes = Eigen::Vector3d(0, 1, 1);
  const ZeroModes modes = point.explained({.sample_slopes = &slopes});
  EXPECT_EQ(modes.num_dead, 0);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unexplained, 1);
}

TEST(ZeroModes, OfAHyperbolaCountWhereTheGradientIsZero) {
  const ZeroModes modes = hyperbola(3.0, 2.0, 6.0).explained({.want_basis = true});
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_dead, 0);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unconfirmed, 0);
  EXPECT_EQ(modes.num_unexplained, 0);
  ASSERT_EQ(modes.families.size(), 1U);
  EXPECT_EQ(modes.families[0].name, "hyperbola");
  EXPECT_EQ(modes.families[0].num_generators, 1);
  EXPECT_EQ(modes.families[0].num_explained, 1);
  EXPECT_EQ(modes.families[0].flatness_bound, 0.0);
  const Eigen::Vector2d w = Eigen::Vector2d(3.0, -2.0).normalized();
  EXPECT_NEAR(std::abs(modes.basis.col(0).dot(w)), 1.0, 1e-15);
  EXPECT_NEAR(modes.median_without_explained, 13.0, 1e-14);
  EXPECT_NEAR(modes.median_magnitude_without_explained, 13.0, 1e-14);
}

// f = phi(p q) + r^2 at p = q = 1e-20: the rounding of g is as large as what it predicts, and H
// decides.
TEST(ZeroModes, OfGeneratorsThatHaveDiedAreWhatTheHessianHasForZero) {
  const auto explained = [](double slope) {
    const double p = 1e-20;
    Point point{Eigen::Vector3d(p, p, 0),
                Eigen::Vector3d(slope * p, slope * p, 0),
                Eigen::Vector3d(p * p, p * p, 2).asDiagonal(),
                {family("hyperbola", {hyperbola_generator()})}};
    point.hessian(0, 1) = point.hessian(1, 0) = p * p + slope;
    return point.explained({.gradient_error = 1e-16, .want_basis = true});
  };
  const ZeroModes none = explained(-0.3);  // H (1, -1, 0) = 0.3 (1, -1, 0)
  EXPECT_EQ(none.status, Status::kOk);
  EXPECT_EQ(none.num_explained, 0);
  EXPECT_EQ(none.num_unconfirmed, 0);
  EXPECT_NEAR(none.smallest_refused, 0.3, 1e-15);
  const ZeroModes one = explained(0);
  EXPECT_EQ(one.status, Status::kOk);
  EXPECT_EQ(one.num_explained, 1);
  EXPECT_EQ(one.num_unexplained, 1);  // along (1, 1, 0), by no invariance
  EXPECT_NEAR(std::abs(one.basis.col(0).dot(Eigen::Vector3d(1, -1, 0).normalized())), 1, 1e-15);
}

TEST(ZeroModes, OfAHyperbolaDoNotCountOnASlope) {
  // H u = -B^T g with u = (3, -2), g = (2, 3)
  const Point slope = hyperbola(3.0, 2.0, 5.0);
  const ZeroModes modes = slope.explained({.want_basis = true});
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_explained, 0);
  EXPECT_EQ(modes.families[0].num_explained, 0);
  EXPECT_NEAR(modes.families[0].flatness_bound, 1.0, 1e-15);
  EXPECT_NEAR(modes.smallest_refused, 1.0, 1e-15);
  EXPECT_TRUE(std::isnan(modes.largest_accepted));
  EXPECT_EQ(modes.basis.rows(), 2);
  EXPECT_EQ(modes.basis.cols(), 0);
  // The bound holds: an eigenvalue within it of zero.
  const Eigen::VectorXd eigenvalues = dense_spectrum(slope.hessian).eigenvalues;
  EXPECT_LE(eigenvalues.cwiseAbs().minCoeff<Eigen::PropagateNaN>(),
            modes.families[0].flatness_bound);
  EXPECT_EQ(modes.median_without_explained, eigenvalues[0]);
}

TEST(ZeroModes, CountWithinTheErrorOfTheGradient) {
  const Point nearly = hyperbola(3.0, 2.0, 6.0 - 1e-9);
  EXPECT_EQ(nearly.explained().num_explained, 0);
  EXPECT_EQ(nearly.explained({.gradient_error = 1e-8}).num_explained, 1);
  EXPECT_EQ(nearly.explained({.gradient_error = 1e-11}).num_explained, 0);
}

TEST(ZeroModes, CombineGeneratorsThatAreNoNullVectorsAlone) {
  // f = phi(p q + r s) with phi' != 0: neither hyperbola is flat, but with p = q = r = s their sum
  // (p, -q, r, -s) and difference are B^T g = +-phi' (p, -q, ...) still; a rotation of (p, r) and
  // (q, s) has u = (r, s, -p, -q) and B^T g = phi' (-s, -r, q, p). None is zero, none combines to
  // zero. With phi' = 0 three are, and the fourth change of basis keeps p q + r s as well: all of
  // GL(2) acts, whose orbit here has the dimension 3 of the level set.
  const auto at = [](double slope) {
    const Eigen::Vector4d theta(1.0, 2.0, 3.0, 4.0);  // p, q, r, s
    const Eigen::Vector4d df(2.0, 1.0, 4.0, 3.0);     // of p q + r s
    Eigen::Matrix4d ddf = Eigen::Matrix4d::Zero();
    ddf(0, 1) = ddf(1, 0) = ddf(2, 3) = ddf(3, 2) = 1.0;
    Point point{theta, slope * df, df * df.transpose() + slope * ddf, {}};
    // (p, r) -> A (p, r), (q, s) -> A^-T (q, s)
    std::vector<AffineGenerator> basis;
    for (const Eigen::Index i : {0, 2}) {
      for (const Eigen::Index j : {0, 2}) {
        basis.push_back({{{i, j, 1.0}, {j + 1, i + 1, -1.0}}, {}});
      }
    }
    point.invariances = {family("GL(2)", basis)};
    return point.explained();
  };
  EXPECT_EQ(at(0.5).num_explained, 0);
  const ZeroModes stationary = at(0.0);
  EXPECT_EQ(stationary.num_explained, 3);
  EXPECT_EQ(stationary.num_unexplained, 0);
  EXPECT_LT(stationary.largest_dependence, 1e-15);  // four generators, three directions
  EXPECT_GT(stationary.smallest_pivot, 1e-2);
}

TEST(ZeroModes, WithoutInvariancesAreTheDead) {
  const auto loss = [](const auto& x, Eigen::Index /*sample*/) {
    return (x(0) + x(2)) * (x(0) + x(2));
  };
  const auto objective = make_objective(loss, 4, 1);
  const Eigen::VectorXd theta = Eigen::Vector4d(1.0, 2.0, 3.0, 4.0);
  EXPECT_TRUE(objective.invariances().empty());
  const Eigen::MatrixXd H = objective.hessian(theta);
  const ZeroModes modes = explain_zero_modes(theta,
                                             objective.gradient(theta),
                                             objective.invariances(),
                                             H,
                                             dense_spectrum(H),
                                             {.want_basis = true});
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_dead, 2);
  EXPECT_EQ(modes.num_explained, 2);
  EXPECT_EQ(modes.num_unexplained, 1);  // (1, 0, -1, 0)
  ASSERT_EQ(modes.basis.cols(), 2);
  EXPECT_EQ(modes.basis.col(0), Eigen::Vector4d::Unit(1));
  EXPECT_EQ(modes.basis.col(1), Eigen::Vector4d::Unit(3));
}

TEST(ZeroModes, AreCreditedToTheFirstFamilyOnly) {
  Point point = valley(Eigen::VectorXd::Zero(6));
  point.hessian = ring(6);
  const AffineGenerator all = shift_of(Eigen::VectorXd::Ones(6));
  const AffineGenerator twice = shift_of(2.0 * Eigen::VectorXd::Ones(6));
  point.invariances = {family("shift", {all, all}), family("again", {twice})};
  const ZeroModes modes = point.explained();
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.families[0].num_explained, 1);
  EXPECT_EQ(modes.families[1].num_explained, 0);
}

TEST(ZeroModes, CountDeadParametersOnce) {
  // The generator moves dead parameter 3 as well: of (1, 1, 1, 5), (1, 1, 1, 0) is new.
  Point point = valley(Eigen::VectorXd::Zero(4));
  point.hessian.topLeftCorner(3, 3) = ring(3);
  point.invariances = {family("shift", {shift_of(Eigen::Vector4d(1, 1, 1, 5))}),
                       family("dead", {shift_of(Eigen::Vector4d(0, 0, 0, 1))})};
  const ZeroModes modes = point.explained({.want_basis = true});
  EXPECT_EQ(modes.num_dead, 1);
  EXPECT_EQ(modes.num_explained, 2);
  EXPECT_EQ(modes.families[0].num_explained, 1);
  EXPECT_EQ(modes.families[1].num_explained, 0);
  EXPECT_TRUE(std::isnan(modes.families[1].flatness_bound));
  EXPECT_EQ(modes.basis.col(0), Eigen::Vector4d::Unit(3));
  EXPECT_NEAR(std::abs(modes.basis.col(1).dot(Eigen::Vector4d(1, 1, 1, 0))), std::sqrt(3.0), 1e-15);
}

TEST(ZeroModes, ThatTheHessianRefutesAreReported) {
  // True and false generators share parameters, so the predicted space mixes them.
  Point point = valley(Eigen::VectorXd::Zero(8));
  point.hessian = ring(8);
  point.invariances = {family("true", {shift_of(Eigen::VectorXd::Ones(8))}),
                       family("false", {shift_of(Eigen::VectorXd::LinSpaced(8, 1.0, 2.0))})};
  const ZeroModes modes = point.explained({.want_basis = true});
  EXPECT_EQ(modes.status, Status::kFailed);
  EXPECT_EQ(modes.num_unconfirmed, 1);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unexplained, 0);
  EXPECT_EQ(modes.families[0].num_explained, 1);
  EXPECT_EQ(modes.families[1].num_explained, 0);
  EXPECT_GT(modes.smallest_refutation, 0.1);
  EXPECT_LE(modes.largest_residual, 2.0 * modes.tolerance);
  EXPECT_EQ(modes.families[0].num_unconfirmed, 0);
  EXPECT_TRUE(std::isnan(modes.families[0].refutation));
  EXPECT_EQ(modes.families[1].num_unconfirmed, 1);
  EXPECT_EQ(modes.families[1].refutation, modes.smallest_refutation);
  EXPECT_EQ(modes.families[1].confirmation_bound, 2.0 * modes.tolerance);
  // Without its component along the true one: (1, ..., 2) minus its mean is largest at both ends.
  EXPECT_THAT(modes.families[1].refuted_parameter, testing::AnyOf(0, 7));
  EXPECT_NEAR(std::abs(modes.basis.col(0).sum()), std::sqrt(8.0), 1e-14);
}

TEST(ZeroModes, AreConfirmedWithinTwiceTheTolerance) {
  const auto with_curvature = [](double bands) {
    Point point = hyperbola(3.0, 2.0, 6.0);
    const Eigen::Vector2d w = Eigen::Vector2d(3.0, -2.0).normalized();
    point.hessian += bands * dense_spectrum(point.hessian).rounding_band * w * w.transpose();
    return point.explained();
  };
  EXPECT_EQ(with_curvature(1.5).num_explained, 1);
  EXPECT_EQ(with_curvature(1.5).status, Status::kOk);
  EXPECT_EQ(with_curvature(3.0).num_explained, 0);
  EXPECT_EQ(with_curvature(3.0).num_unconfirmed, 1);
  EXPECT_EQ(with_curvature(3.0).status, Status::kFailed);
}

TEST(ZeroModes, AreConfirmedWithinTheErrorOfTheHessian) {
  Point point = hyperbola(3.0, 2.0, 6.0);
  const Eigen::Vector2d w = Eigen::Vector2d(3.0, -2.0).normalized();
  point.hessian = std::ldexp(1.0, 40) * (point.hessian + 1e-10 * w * w.transpose());
  const double curvature = std::ldexp(1e-10, 40);
  const auto with_error = [&](double error) {
    return point.explained({.product_error = [&](const Eigen::VectorXd& v) {
      EXPECT_NEAR(std::abs(v.dot(w)), 1.0, 1e-12);
      return error;
    }});
  };
  EXPECT_EQ(with_error(1.01 * curvature).status, Status::kOk);
  EXPECT_EQ(with_error(1.01 * curvature).num_explained, 1);
  const ZeroModes refuted = with_error(0.5 * curvature);
  EXPECT_EQ(refuted.num_unconfirmed, 1);
  EXPECT_NEAR(refuted.families[0].confirmation_bound, 0.5 * curvature, 0.01 * curvature);
  EXPECT_EQ(with_error(kNaN).num_unconfirmed, 1);
}

TEST(ZeroModes, KeepTheirCountsAndDigitsAtEveryScale) {
  Point point = hyperbola(3.0, 2.0, 5.0);
  point.invariances.push_back(family("false", {shift_of(Eigen::Vector2d(1.0, 0.0))}));
  const ZeroModes plain = point.explained();
  for (const int exponent : {-900, -300, 300, 900}) {
    Point scaled = point;
    scaled.hessian *= std::ldexp(1.0, exponent);
    scaled.gradient *= std::ldexp(1.0, exponent);
    const ZeroModes modes = scaled.explained();
    EXPECT_EQ(modes.status, plain.status);
    EXPECT_EQ(modes.num_explained, plain.num_explained);
    EXPECT_EQ(modes.num_unconfirmed, plain.num_unconfirmed);
    EXPECT_EQ(std::ldexp(modes.families[0].flatness_bound, -exponent),
              plain.families[0].flatness_bound);
    EXPECT_EQ(std::ldexp(modes.smallest_refused, -exponent), plain.smallest_refused);
    EXPECT_EQ(std::ldexp(modes.smallest_refutation, -exponent), plain.smallest_refutation);
    EXPECT_EQ(std::ldexp(modes.families[1].refutation, -exponent), plain.families[1].refutation);
    EXPECT_EQ(std::ldexp(modes.families[1].confirmation_bound, -exponent),
              plain.families[1].confirmation_bound);
  }
}

TEST(ZeroModes, AreLeftOutOfMedians) {
  Eigen::VectorXd curvatures(7);
  curvatures << -5.0, 0.0, 0.0, 0.0, 1.0, 2.0, 9.0;  // three dead
  const ZeroModes modes = valley(curvatures).explained();
  EXPECT_EQ(modes.num_explained, 3);
  EXPECT_EQ(modes.median_without_explained, 1.0);            // of -5 1 2 9
  EXPECT_EQ(modes.median_magnitude_without_explained, 2.0);  // of 1 2 5 9
  const ZeroModes flat = valley(Eigen::VectorXd::Zero(3)).explained();
  EXPECT_EQ(flat.status, Status::kOk);
  EXPECT_EQ(flat.num_explained, 3);
  EXPECT_TRUE(std::isnan(flat.median_without_explained));
}

TEST(ZeroModes, NeedNoListedEigenvalues) {
  const Point point = hyperbola(3.0, 2.0, 6.0);
  Spectrum spectrum = dense_spectrum(point.hessian);
  spectrum.eigenvalues.resize(0);
  spectrum.num_zero = -1;
  const ZeroModes modes =
      explain_zero_modes(point.theta, point.gradient, point.invariances, point.hessian, spectrum);
  EXPECT_EQ(modes.num_explained, 1);
  EXPECT_EQ(modes.num_unexplained, -1);
  EXPECT_TRUE(std::isnan(modes.median_without_explained));
}

TEST(ZeroModes, AreNotComputedBeyondTheLimits) {
  const Point point = hyperbola(3.0, 2.0, 6.0);
  for (const ZeroModesOptions& options :
       {ZeroModesOptions{.memory_limit_bytes = 70.0}, ZeroModesOptions{.operation_limit = 5.0}}) {
    const ZeroModes modes = point.explained(options);
    EXPECT_EQ(modes.status, Status::kNotComputed);
    EXPECT_EQ(modes.num_dead, 0);
    EXPECT_EQ(modes.num_explained, -1);
    EXPECT_EQ(modes.families.at(0).num_explained, -1);
    EXPECT_TRUE(std::isnan(modes.median_without_explained));
  }
  // Too many to be listed: none is asked for.
  Point huge = point;
  huge.invariances = {{"huge", Eigen::Index{1} << 40, [](Eigen::Index) -> AffineGenerator {
                         ADD_FAILURE() << "a generator was made";
                         return {};
                       }}};
  EXPECT_EQ(huge.explained().status, Status::kNotComputed);
}

TEST(ZeroModes, OfNonFiniteInputsAreNone) {
  const Point good = hyperbola(3.0, 2.0, 6.0);
  const Spectrum spectrum = dense_spectrum(good.hessian);
  const auto status = [&](const Point& p) {
    return explain_zero_modes(p.theta, p.gradient, p.invariances, p.hessian, spectrum).status;
  };
  EXPECT_EQ(status(good), Status::kOk);
  Point bad = good;
  bad.theta[0] = kNaN;
  EXPECT_EQ(status(bad), Status::kNonFinite);
  bad = good;
  bad.gradient[1] = kInfinity;
  EXPECT_EQ(status(bad), Status::kNonFinite);
  bad = good;
  bad.hessian(0, 1) = kNaN;
  EXPECT_EQ(status(bad), Status::kNonFinite);
  Spectrum failed;
  failed.status = Status::kFailed;
  EXPECT_EQ(
      explain_zero_modes(good.theta, good.gradient, good.invariances, good.hessian, failed).status,
      Status::kFailed);
}

TEST(ZeroModes, RefuseWhatDoesNotFit) {
  const Point good = hyperbola(3.0, 2.0, 6.0);
  Point bad = good;
  bad.theta.conservativeResize(1);
  test::expect_refusal([&] { bad.explained(); }, "must have 2 entries as the hessian has rows");
  bad = good;
  bad.hessian.resize(2, 3);
  const Spectrum spectrum = dense_spectrum(good.hessian);
  test::expect_refusal(
      [&] { explain_zero_modes(bad.theta, bad.gradient, bad.invariances, bad.hessian, spectrum); },
      "explain_zero_modes: hessian must be square");
  bad = good;
  bad.invariances = {family("outside", {{{}, {{2, 1.0}}}})};
  test::expect_refusal([&] { bad.explained(); },
                       "generator 0 of 'outside' has an entry outside of the 2 parameters");
  bad.invariances = {{"empty", 1, {}}};
  test::expect_refusal([&] { bad.explained(); }, "invariance 'empty' must have generators");
  test::expect_refusal([&] { good.explained({.gradient_error = kNaN}); }, "gradient_error nan");
  test::expect_refusal([&] { good.explained({.memory_limit_bytes = -1.0}); }, "must not be");
}

}  // namespace
}  // namespace hesscope
