// SPDX-License-Identifier: BSD-3-Clause
//
// dense_eigensystem by the test ratios of LAPACK's own test suite, and its contract.
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <tuple>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kUnitRoundoff = std::numeric_limits<double>::epsilon();
// What LAPACK's tests allow these ratios (testing/dep.in and the like use 20 to 50).
constexpr double kThreshold = 30.0;

struct MatrixKind {
  const char* name;
  MatrixXd (*make)(Index n);
};

void PrintTo(const MatrixKind& kind, std::ostream* out) { *out << kind.name; }

const MatrixKind kMatrixKinds[] = {
    {"Random", [](Index n) { return test::random_symmetric(n, 1); }},
    {"LowRank",
     [](Index n) -> MatrixXd {
       const MatrixXd factor = test::random_matrix(n, (n + 4) / 5, 2);
       return factor * factor.transpose();
     }},
    {"Clustered",
     [](Index n) { return test::with_eigenvalues(VectorXd::LinSpaced(n, 1.0, 1.0 + 1e-13), 3); }},
    {"GradedOver1e12",
     [](Index n) {
       const VectorXd exponents = VectorXd::LinSpaced(n, -12.0 * std::log(10.0), 0.0);
       return test::with_eigenvalues(exponents.array().exp(), 4);
     }},
    {"Zero", [](Index n) -> MatrixXd { return MatrixXd::Zero(n, n); }},
    {"Identity", [](Index n) -> MatrixXd { return MatrixXd::Identity(n, n); }},
    {"Laplacian", [](Index n) { return test::laplacian(n); }},
};

double one_norm(const MatrixXd& a) {
  return a.size() == 0 ? 0.0 : a.cwiseAbs().colwise().sum().maxCoeff<Eigen::PropagateNaN>();
}

class EigensystemOf : public ::testing::TestWithParam<std::tuple<MatrixKind, Index>> {
 protected:
  const Index n = std::get<1>(GetParam());
  const MatrixXd h = std::get<0>(GetParam()).make(n);
};

TEST_P(EigensystemOf, PassesTheTestRatiosOfLapackAndAgreesWithDenseSpectrum) {
  const Eigensystem found = dense_eigensystem(h);
  ASSERT_EQ(found.status, Status::kOk);
  ASSERT_EQ(found.eigenvalues.size(), n);
  ASSERT_EQ(found.eigenvectors.rows(), n);
  ASSERT_EQ(found.eigenvectors.cols(), n);
  const MatrixXd& v = found.eigenvectors;
  const double unit = static_cast<double>(n) * kUnitRoundoff;
  EXPECT_LE(one_norm(h * v - v * found.eigenvalues.asDiagonal()), kThreshold * unit * one_norm(h));
  EXPECT_LE(one_norm(v.transpose() * v - MatrixXd::Identity(n, n)), kThreshold * unit);
  for (Index i = 1; i < n; ++i) ASSERT_LE(found.eigenvalues[i - 1], found.eigenvalues[i]);
  if (n == 0) return;  // dense_spectrum refuses it
  const Spectrum spectrum = dense_spectrum(h);
  EXPECT_LE(test::largest_difference(found.eigenvalues, spectrum.eigenvalues),
            spectrum.rounding_band);
  EXPECT_NEAR(found.rounding_band, spectrum.rounding_band, 1e-12 * spectrum.rounding_band);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         EigensystemOf,
                         ::testing::Combine(::testing::ValuesIn(kMatrixKinds),
                                            ::testing::Values<Index>(0, 1, 2, 3, 5, 20, 300, 1000)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

// One row more or less than full blocks of reflectors and panels of columns.
TEST(DenseEigensystem, PassesTheTestRatiosWhereverBlocksEnd) {
  for (const Index n : {255, 256, 257, 258, 321, 384, 385}) {
    SCOPED_TRACE(n);
    const MatrixXd h = test::random_symmetric(n, static_cast<std::uint64_t>(n));
    const Eigensystem found = dense_eigensystem(h);
    ASSERT_EQ(found.status, Status::kOk);
    const MatrixXd& v = found.eigenvectors;
    const double unit = static_cast<double>(n) * kUnitRoundoff;
    EXPECT_LE(one_norm(h * v - v * found.eigenvalues.asDiagonal()),
              kThreshold * unit * one_norm(h));
    EXPECT_LE(one_norm(v.transpose() * v - MatrixXd::Identity(n, n)), kThreshold * unit);
  }
}

TEST(DenseEigensystem, GivesTheSameBitsForAnyNumberOfThreads) {
  const MatrixXd h = test::random_symmetric(450, 5);
  const Eigensystem reference = dense_eigensystem(h, {.num_threads = 1});
  ASSERT_EQ(reference.status, Status::kOk);
  for (const int num_threads : {2, 3, 4}) {
    SCOPED_TRACE(num_threads);
    const Eigensystem found = dense_eigensystem(h, {.num_threads = num_threads});
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_TRUE(found.eigenvalues == reference.eigenvalues);
    EXPECT_TRUE(found.eigenvectors == reference.eigenvectors);
  }
}

TEST(DenseEigensystem, HasTheSameVectorsAtEveryPowerOfTwo) {
  for (const Index n : {25, 300}) {
    const MatrixXd h = test::random_symmetric(n, 6);
    const Eigensystem reference = dense_eigensystem(h);
    for (const int exponent : {-900, -1, 1, 1000}) {
      SCOPED_TRACE(exponent);
      const double factor = std::ldexp(1.0, exponent);
      const Eigensystem found = dense_eigensystem(h * factor);
      ASSERT_EQ(found.status, Status::kOk);
      EXPECT_EQ(found.eigenvalues, reference.eigenvalues * factor);
      EXPECT_TRUE(found.eigenvectors == reference.eigenvectors);
      EXPECT_EQ(found.rounding_band, reference.rounding_band * factor);
    }
  }
}

TEST(DenseEigensystem, OfNothingIsNothing) {
  const Eigensystem found = dense_eigensystem(MatrixXd(0, 0));
  EXPECT_EQ(found.status, Status::kOk);
  EXPECT_EQ(found.eigenvalues.size(), 0);
  EXPECT_EQ(found.eigenvectors.size(), 0);
  EXPECT_EQ(found.rounding_band, 0.0);
}

TEST(DenseEigensystem, ReportsNothingOfANonFiniteMatrix) {
  for (const Index n : {1, 5, 300}) {
    for (const double bad : {kNaN, kInfinity, -kInfinity}) {
      MatrixXd h = test::random_symmetric(n, 8);
      h(n - 1, n / 2) = bad;
      const Eigensystem found = dense_eigensystem(h);
      EXPECT_EQ(found.status, Status::kNonFinite);
      EXPECT_EQ(found.eigenvalues.size(), 0);
      EXPECT_EQ(found.eigenvectors.size(), 0);
      EXPECT_TRUE(std::isnan(found.rounding_band));
    }
  }
  EXPECT_EQ(dense_eigensystem(MatrixXd::Constant(4, 4, 1e308)).status, Status::kNonFinite);
}

TEST(DenseEigensystem, RefusesWhatItCannotDo) {
  try {
    dense_eigensystem(MatrixXd::Zero(2, 3));
    FAIL() << "accepted";
  } catch (const PreconditionError& error) {
    EXPECT_NE(std::string(error.what()).find("got 2x3"), std::string::npos) << error.what();
  }
  EXPECT_THROW(dense_eigensystem(MatrixXd::Zero(2, 2), {.num_threads = -1}), PreconditionError);
  const Index too_many = Index{1} << 31;
  const double nothing = 0.0;
  EXPECT_THROW(dense_eigensystem(Eigen::Map<const MatrixXd>(&nothing, too_many, too_many)),
               PreconditionError);
}

}  // namespace
}  // namespace hesscope
