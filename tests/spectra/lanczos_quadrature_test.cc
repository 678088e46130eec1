// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/lanczos_quadrature.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/failing_operators.h"
#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::BecomesBad;
using test::ThrowsAfter;

// Remembers what it is applied to.
class Recorder final : public SymmetricOperator {
 public:
  explicit Recorder(const MatrixXd& h) : h_(h) {}

  Index rows() const override { return h_.rows(); }

  mutable std::vector<MatrixXd> arguments;

 protected:
  MatrixXd product(const Eigen::Ref<const MatrixXd>& v) const override {
    arguments.push_back(v);
    return h_ * v;
  }

 private:
  const MatrixXd& h_;
};

// What every result of status kOk must be.
void expect_rules(const LanczosQuadrature& found) {
  ASSERT_EQ(found.status, Status::kOk);
  ASSERT_EQ(found.weights.rows(), found.nodes.rows());
  ASSERT_EQ(found.weights.cols(), found.nodes.cols());
  ASSERT_EQ(found.calibrated_weights.rows(), found.nodes.rows());
  ASSERT_EQ(found.calibrated_weights.cols(), found.nodes.cols());
  for (Index j = 0; j < found.nodes.cols(); ++j) {
    EXPECT_NEAR(found.weights.col(j).sum(), 1.0, 1e-13);
    EXPECT_NEAR(found.calibrated_weights.col(j).sum(), 1.0, 1e-13);
    for (Index i = 0; i < found.nodes.rows(); ++i) {
      EXPECT_GE(found.weights(i, j), 0.0);
      EXPECT_GE(found.calibrated_weights(i, j), 0.0);
      if (std::isnan(found.nodes(i, j))) {
        EXPECT_EQ(found.weights(i, j), 0.0);
        EXPECT_EQ(found.calibrated_weights(i, j), 0.0);
      } else if (i > 0) {
        EXPECT_GE(found.nodes(i, j), found.nodes(i - 1, j));
      }
    }
  }
  EXPECT_NO_THROW(detail::require_measure("test", found.measure));
}

void expect_nothing(const LanczosQuadrature& found, Status status) {
  EXPECT_EQ(found.status, status);
  EXPECT_EQ(found.nodes.size(), 0);
  EXPECT_EQ(found.weights.size(), 0);
  EXPECT_EQ(found.calibrated_weights.size(), 0);
  EXPECT_EQ(found.measure.nodes.size(), 0);
  EXPECT_TRUE(std::isnan(found.trace.value));
  EXPECT_TRUE(std::isnan(found.squared_frobenius_norm.value));
  EXPECT_EQ(found.num_counted, 0);
}

double distance_to_exact(const LanczosQuadrature& found, const MatrixXd& h) {
  return wasserstein_distance(found.measure, exact_measure(dense_spectrum(h).eigenvalues));
}

// sum_i w_i node_i^k against v^T H^k v for k < 2 m, and not beyond.
TEST(LanczosQuadrature, HasTheMomentsOfItsProbesUpToTwiceTheSteps) {
  const MatrixXd h = 0.15 * test::random_symmetric(60, 1);  // ||H|| about 1
  for (const ProbeEntries entries : {ProbeEntries::kGaussian, ProbeEntries::kRademacher}) {
    for (const Index m : {1, 2, 5, 9}) {
      const Recorder op(h);
      const LanczosQuadrature found =
          lanczos_quadrature(op, {.num_probes = 4, .num_steps = m, .entries = entries});
      expect_rules(found);
      ASSERT_EQ(found.nodes.rows(), m);
      ASSERT_EQ(found.nodes.cols(), 4);
      const MatrixXd& v = op.arguments.front();
      MatrixXd power = v;  // H^k V
      for (Index k = 0; k <= 2 * m; ++k, power = h * power) {
        for (Index j = 0; j < 4; ++j) {
          const double moment = v.col(j).dot(power.col(j));
          const double rule = found.weights.col(j).dot(found.nodes.col(j).array().pow(k).matrix());
          if (k < 2 * m) {
            EXPECT_NEAR(rule, moment, 1e-13) << "degree " << k << " of " << m << " steps";
          } else {
            EXPECT_GT(std::abs(rule - moment), 1e-10);
          }
        }
      }
    }
  }
}

TEST(LanczosQuadrature, DrawsUnitProbes) {
  const MatrixXd h = MatrixXd::Identity(100, 100);
  const auto drawn = [&h](const QuadratureOptions& options) {
    const Recorder op(h);
    lanczos_quadrature(op, options);
    return op.arguments.front();
  };
  const MatrixXd gaussian = drawn({.num_probes = 8});
  EXPECT_LE(test::largest_magnitude(gaussian.colwise().norm().array() - 1.0), 1e-15);
  const MatrixXd signs = drawn({.num_probes = 8, .entries = ProbeEntries::kRademacher});
  EXPECT_LE(test::largest_magnitude(signs.cwiseAbs().array() - 0.1), 1e-16);
  EXPECT_LT(std::abs(signs.sum()), 10.0);  // 80 if all were alike; sd 2.8
  EXPECT_EQ(drawn({.num_probes = 3}), gaussian.leftCols(3));
  EXPECT_NE(drawn({.num_probes = 8, .seed = 1}), gaussian);
}

TEST(LanczosQuadrature, OfAMultipleOfTheIdentityEndsAfterOneStep) {
  for (const double value : {0.0, -2.5, 1e-300, 1e300}) {
    const MatrixXd h = value * MatrixXd::Identity(50, 50);
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h));
    expect_rules(found);
    EXPECT_EQ(found.num_calls, 1);
    EXPECT_EQ(found.num_columns, 10);
    ASSERT_EQ(found.nodes.rows(), 1);
    ASSERT_EQ(found.nodes.cols(), 10);
    const double tolerance = 1e-14 * std::abs(value);
    EXPECT_LE(test::largest_magnitude(found.nodes.array() - value), tolerance);
    EXPECT_EQ(found.num_counted, 0);  // the probes do not show that there are but 50
    EXPECT_NEAR(found.trace.value, 50.0 * value, 50.0 * tolerance);
  }
}

// As many steps as distinct eigenvalues; the multiplicity of the largest, not that of the others,
// is beyond what 10 probes can count.
TEST(LanczosQuadrature, CountsMultiplicities) {
  VectorXd values = VectorXd::Zero(100);
  values.head(9) << -3.0, -1.0, -1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0;
  values[9] = 5.0;
  const MatrixXd h = test::with_eigenvalues(values, 2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h), {.seed = seed});
    expect_rules(found);
    ASSERT_GE(found.nodes.rows(), 6);
    ASSERT_LE(found.nodes.rows(), 7);
    EXPECT_EQ(found.num_counted, 10);
    EXPECT_LE(distance_to_exact(found, h), 1e-12);
    EXPECT_NEAR(found.trace.value, values.sum(), 1e-11);
    EXPECT_LE(found.trace.standard_error, 1e-11);
    EXPECT_NEAR(found.squared_frobenius_norm.value, values.squaredNorm(), 1e-11);
    EXPECT_LE(found.squared_frobenius_norm.standard_error, 1e-11);
  }
}

// After enough steps rounding brings a second copy of a multiple eigenvalue into the Krylov spaces,
// of no weight and not converged for long.
TEST(LanczosQuadrature, CountsAMultipleEigenvalueAmongItsCopies) {
  VectorXd values = VectorXd::LinSpaced(100, 0.0, 1.0);
  values.tail(5).setConstant(5.0);
  const MatrixXd h = test::with_eigenvalues(values, 12);
  for (const Index num_steps : {25, 40, 50, 60, 70}) {
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h), {.num_steps = num_steps});
    expect_rules(found);
    EXPECT_GE(found.num_counted, 5) << num_steps;
    EXPECT_LE(distance_to_exact(found, h), 0.025) << num_steps;
  }
}

// 7 of 10 probes could hide a dimension more; they must not be believed.
TEST(LanczosQuadrature, DoesNotCountAnEigenspaceThatHalfOfItsProbesDoNotFill) {
  VectorXd values = VectorXd::Zero(100);
  values.head(7).setOnes();
  const MatrixXd h = test::with_eigenvalues(values, 3);
  const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h));
  expect_rules(found);
  EXPECT_EQ(found.num_counted, 0);
  EXPECT_LE(test::largest_difference(found.calibrated_weights, found.weights), 1e-15);
}

TEST(LanczosQuadrature, IsExactWhereEachProbeMakesAllSteps) {
  for (const Index n : {20, 63, 100}) {
    const MatrixXd h = test::random_symmetric(n, static_cast<std::uint64_t>(n));
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h));
    expect_rules(found);
    EXPECT_EQ(found.num_calls, n);
    EXPECT_EQ(found.num_columns, 10 * n);
    EXPECT_EQ(found.num_counted, n);
    EXPECT_LE(distance_to_exact(found, h), 1e-12 * h.norm());
  }
}

// Clusters far narrower than the distance that links eigenvalues across probes, and far wider.
TEST(LanczosQuadrature, IsExactOfClustersOfAnyWidth) {
  for (const double width : {1e-14, 1e-11, 1e-9, 1e-7, 1e-4}) {
    VectorXd values = VectorXd::LinSpaced(80, -1.0, 1.0);
    values.tail(4) << 2.0, 2.0 + 0.3 * width, 2.0 + 0.5 * width, 2.0 + width;
    const MatrixXd h = test::with_eigenvalues(values, 4);
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h));
    expect_rules(found);
    EXPECT_EQ(found.num_counted, 80) << width;
    EXPECT_LE(distance_to_exact(found, h), 1e-8) << width;
  }
}

TEST(LanczosQuadrature, OfABasisOfProbesIsExact) {
  const MatrixXd h = test::random_symmetric(7, 5);
  for (const Index num_probes : {7, 10}) {
    const LanczosQuadrature found =
        lanczos_quadrature(MatrixOperator(h), {.num_probes = num_probes});
    expect_rules(found);
    EXPECT_EQ(found.nodes.cols(), 7);
    EXPECT_LE(distance_to_exact(found, h), 1e-13);
    EXPECT_EQ(found.trace.standard_error, 0.0);
    EXPECT_NEAR(found.trace.value, h.trace(), 1e-13);
    EXPECT_NEAR(found.squared_frobenius_norm.value, h.squaredNorm(), 1e-13);
  }
  // Moments up to 2 m - 1 even of few steps.
  const LanczosQuadrature few =
      lanczos_quadrature(MatrixOperator(h), {.num_probes = 7, .num_steps = 2});
  const double third = few.measure.weights.dot(few.measure.nodes.array().cube().matrix());
  EXPECT_NEAR(7.0 * third, (h * h * h).trace(), 1e-13);
}

TEST(LanczosQuadrature, OfOneRowIsThatNumber) {
  const LanczosQuadrature found =
      lanczos_quadrature(MatrixOperator(MatrixXd::Constant(1, 1, -3.0)));
  expect_rules(found);
  EXPECT_EQ(found.measure.nodes, VectorXd::Constant(1, -3.0));
  EXPECT_EQ(found.measure.weights, VectorXd::Ones(1));
}

// Calibration must not bias what it leaves to chance, and the standard error must be that of the
// mean: over many seeds the errors in units of it have mean 0 and variance (q - 1) / (q - 3), of
// Student's distribution with q - 1 degrees of freedom.
void expect_honest_errors(const VectorXd& values, ProbeEntries entries) {
  const MatrixXd h = test::with_eigenvalues(values, 1'000'000);  // not of a seed below
  constexpr int kSeeds = 100;
  const double variance = 9.0 / 7.0;
  VectorXd trace(kSeeds);
  VectorXd square(kSeeds);
  for (Index seed = 0; seed < kSeeds; ++seed) {
    const LanczosQuadrature found = lanczos_quadrature(
        MatrixOperator(h),
        {.num_steps = 20, .entries = entries, .seed = static_cast<std::uint64_t>(seed)});
    EXPECT_EQ(found.num_counted > 0, entries == ProbeEntries::kGaussian);
    const auto in_errors = [](const ProbeEstimate& estimate, double exact) {
      return (estimate.value - exact) / estimate.standard_error;
    };
    trace[seed] = in_errors(found.trace, values.sum());
    square[seed] = in_errors(found.squared_frobenius_norm, values.squaredNorm());
  }
  for (const VectorXd& t : {trace, square}) {
    EXPECT_LE(std::abs(t.mean()), 4.0 * std::sqrt(variance / kSeeds));
    EXPECT_NEAR(t.squaredNorm() / kSeeds, variance, 0.9);
  }
}

TEST(LanczosQuadrature, HasHonestStandardErrors) {
  VectorXd values = VectorXd::LinSpaced(300, -1.0, 1.0);
  expect_honest_errors(values, ProbeEntries::kRademacher);
  values.tail(3) << 3.0, 4.0, 10.0;
  expect_honest_errors(values, ProbeEntries::kGaussian);
}

TEST(LanczosQuadrature, OfOneProbeHasNoStandardErrorAndCountsNothing) {
  const MatrixXd h = test::random_symmetric(30, 7);
  const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(h), {.num_probes = 1});
  expect_rules(found);
  EXPECT_TRUE(std::isnan(found.trace.standard_error));
  EXPECT_EQ(found.num_counted, 0);
}

TEST(LanczosQuadrature, IsTheSameAtEveryPowerOfTwo) {
  const MatrixXd h = test::random_symmetric(120, 8);
  const LanczosQuadrature reference = lanczos_quadrature(MatrixOperator(h), {.num_steps = 40});
  for (const int exponent : {-400, -1, 3, 400}) {
    const double factor = std::ldexp(1.0, exponent);
    const MatrixXd scaled = factor * h;
    const LanczosQuadrature found = lanczos_quadrature(MatrixOperator(scaled), {.num_steps = 40});
    expect_rules(found);
    EXPECT_TRUE(found.nodes == factor * reference.nodes);
    EXPECT_TRUE(found.calibrated_weights == reference.calibrated_weights);
    EXPECT_EQ(found.trace.value, factor * reference.trace.value);
    EXPECT_EQ(found.squared_frobenius_norm.standard_error,
              factor * factor * reference.squared_frobenius_norm.standard_error);
  }
}

TEST(LanczosQuadrature, HasNoSquaresBeyondTheRangeOfDouble) {
  const MatrixXd h = test::random_symmetric(30, 8);
  const auto found = [&h](int exponent) {
    const MatrixXd scaled = std::ldexp(1.0, exponent) * h;
    LanczosQuadrature quadrature = lanczos_quadrature(MatrixOperator(scaled));
    expect_rules(quadrature);
    EXPECT_TRUE(std::isfinite(quadrature.trace.value));
    return quadrature.squared_frobenius_norm;
  };
  EXPECT_TRUE(std::isnan(found(600).value));
  EXPECT_TRUE(std::isnan(found(600).standard_error));
  EXPECT_EQ(found(-600).value, 0.0);  // rounded, as of any number as small
}

TEST(LanczosQuadrature, GivesTheSameBitsForAnyNumberOfThreads) {
  const MatrixXd h = test::random_symmetric(150, 9);
  const LanczosQuadrature reference = lanczos_quadrature(MatrixOperator(h), {.num_threads = 1});
  expect_rules(reference);
  for (const int num_threads : {1, 2, 3, 4}) {
    const LanczosQuadrature found =
        lanczos_quadrature(MatrixOperator(h), {.num_threads = num_threads});
    EXPECT_TRUE(found.nodes == reference.nodes);
    EXPECT_TRUE(found.weights == reference.weights);
    EXPECT_TRUE(found.calibrated_weights == reference.calibrated_weights);
    EXPECT_EQ(found.trace.value, reference.trace.value);
    EXPECT_EQ(found.trace.standard_error, reference.trace.standard_error);
  }
}

// Probes end at different steps: those that are done must not be applied.
TEST(LanczosQuadrature, CountsItsProducts) {
  MatrixXd h = MatrixXd::Zero(12, 12);
  h.topLeftCorner(5, 5) = test::random_symmetric(5, 10);
  const MatrixOperator op(h);
  const LanczosQuadrature found = lanczos_quadrature(op, {.num_probes = 12});
  expect_rules(found);
  EXPECT_EQ(found.num_calls, 5);
  EXPECT_EQ(found.num_columns, 5 * 5 + 7);
  EXPECT_EQ(found.num_calls, op.num_calls());
  EXPECT_EQ(found.num_columns, op.num_columns());
  EXPECT_EQ(found.nodes.array().isNaN().count(), 7 * 4);
}

TEST(LanczosQuadrature, SaysNonFiniteWheneverItAppears) {
  const MatrixXd h = test::random_symmetric(30, 11);
  for (const double bad : {kNaN, kInfinity}) {
    for (int num_good = 0; num_good < 20; ++num_good) {
      const LanczosQuadrature found =
          lanczos_quadrature(BecomesBad(h, num_good, bad), {.num_steps = 20});
      expect_nothing(found, Status::kNonFinite);
      EXPECT_EQ(found.num_calls, num_good + 1);
    }
    EXPECT_EQ(lanczos_quadrature(BecomesBad(h, 20, bad), {.num_steps = 20}).status, Status::kOk);
  }
  // Finite products of a norm beyond double.
  const MatrixXd huge = MatrixXd::Constant(30, 30, 1e308);
  expect_nothing(lanczos_quadrature(MatrixOperator(huge)), Status::kNonFinite);
}

TEST(LanczosQuadrature, LetsTheOperatorsExceptionsPass) {
  EXPECT_THROW(lanczos_quadrature(ThrowsAfter(0)), std::runtime_error);
}

TEST(LanczosQuadrature, RefusesOptionsOutOfRange) {
  const MatrixXd h = test::laplacian(10);
  const MatrixOperator op(h);
  EXPECT_THROW(lanczos_quadrature(op, {.num_probes = 0}), PreconditionError);
  EXPECT_THROW(lanczos_quadrature(op, {.num_steps = 0}), PreconditionError);
  EXPECT_THROW(lanczos_quadrature(op, {.num_threads = -1}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
