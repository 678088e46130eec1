// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold for every symmetric matrix, over LAPACK's kinds of test matrices and sizes; and
// agreement with a second implementation, Eigen's.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/spectrum.h>

#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Largest ratio of ||H v - lambda v|| to n eps ||H||. LAPACK's own test programs allow 50.
constexpr double kResidualRatio = 30.0;

struct Kind {
  const char* name;
  MatrixXd (*make)(Index n);
};

// 0, ..., 1 in n equal steps; 0 for n = 1.
VectorXd steps(Index n) { return VectorXd::LinSpaced(n, 0.0, n > 1 ? 1.0 : 0.0); }

const Kind kKinds[] = {
    {"Zero", [](Index n) -> MatrixXd { return MatrixXd::Zero(n, n); }},
    {"Identity", [](Index n) -> MatrixXd { return MatrixXd::Identity(n, n); }},
    {"Laplacian", [](Index n) { return test::laplacian(n); }},
    {"Random", [](Index n) { return test::random_symmetric(n, 101); }},
    {"RankOne",
     [](Index n) -> MatrixXd {
       const VectorXd u = test::random_matrix(n, 1, 102);
       return u * u.transpose();
     }},
    {"GradedOver1e12",
     [](Index n) {
       return test::with_eigenvalues((-12.0 * std::log(10.0) * steps(n)).array().exp(), 103);
     }},
    {"GradedEntries",
     [](Index n) -> MatrixXd {
       const VectorXd d = (-6.0 * std::log(10.0) * steps(n)).array().exp();
       return d.asDiagonal() * test::random_symmetric(n, 104) * d.asDiagonal();
     }},
    {"ClusteredAtOne",
     [](Index n) {
       return test::with_eigenvalues((1.0 + 1e-13 * steps(n).array()).matrix(), 105);
     }},
    {"TenfoldLargest",
     [](Index n) {
       VectorXd values = steps(n);
       values.tail(std::min<Index>(n, 10)).setConstant(5.0);
       return test::with_eigenvalues(values, 106);
     }},
    {"PlusMinusPairs",
     [](Index n) {
       VectorXd values(n);
       for (Index k = 0; k < n; ++k) {
         values[k] = (k % 2 == 0 ? 1.0 : -1.0) * (1.0 + static_cast<double>(k / 2));
       }
       return test::with_eigenvalues(values, 107);
     }},
    {"OneOutlier",
     [](Index n) {
       VectorXd values = steps(n);
       values[n - 1] = 1e8;
       return test::with_eigenvalues(values, 108);
     }},
    {"HalfDead",
     [](Index n) -> MatrixXd {
       MatrixXd h = MatrixXd::Zero(n, n);
       h.topLeftCorner(n / 2, n / 2) = test::random_symmetric(n / 2, 109);
       return h;
     }},
    {"NearUnderflow", [](Index n) -> MatrixXd { return 1e-300 * test::random_symmetric(n, 110); }},
    {"NearOverflow", [](Index n) -> MatrixXd { return 1e300 * test::random_symmetric(n, 111); }},
};

class DenseSpectrumOf : public ::testing::TestWithParam<std::tuple<Kind, Index>> {
 protected:
  const Index n = std::get<1>(GetParam());
  const MatrixXd h = std::get<0>(GetParam()).make(n);
  const Spectrum spectrum = dense_spectrum(h);
  // A power of two that keeps the squares below within range; multiplying by it is exact.
  const double unit = std::ldexp(1.0,
                                 spectrum.largest.value > 1e100    ? -1000
                                 : spectrum.rounding_band < 1e-100 ? 900
                                                                   : 0);

  void SetUp() override {
    ASSERT_EQ(spectrum.status, Status::kOk);
    ASSERT_EQ(spectrum.proof, Proof::kDense);
    ASSERT_EQ(spectrum.eigenvalues.size(), n);
  }
};

TEST_P(DenseSpectrumOf, HasSmallResiduals) {
  const double norm = test::largest_magnitude(spectrum.eigenvalues);
  for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    EXPECT_LE(e.residual, kResidualRatio * static_cast<double>(n) * kEpsilon * norm);
  }
}

TEST_P(DenseSpectrumOf, IsAscendingAndNamesItsRanks) {
  const VectorXd& values = spectrum.eigenvalues;
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(spectrum.smallest.value, values[0]);
  EXPECT_EQ(spectrum.median.value, lower_median(values));
  EXPECT_EQ(spectrum.largest.value, values[n - 1]);
}

TEST_P(DenseSpectrumOf, CountsEveryEigenvalueOnce) {
  EXPECT_EQ(spectrum.num_negative + spectrum.num_zero + spectrum.num_positive, n);
  EXPECT_GE(spectrum.num_negative, 0);
  EXPECT_GE(spectrum.num_positive, 0);
  EXPECT_LE(spectrum.num_dead, spectrum.num_zero);
}

TEST_P(DenseSpectrumOf, SumsToTheTrace) {
  const double tolerance = static_cast<double>(n) * spectrum.rounding_band * unit;
  EXPECT_NEAR((spectrum.eigenvalues * unit).sum(), (h * unit).trace(), tolerance);
}

TEST_P(DenseSpectrumOf, HasTheFrobeniusNorm) {
  // ||(lambda + error)||_2 differs from ||lambda||_2 by at most ||error||_2 <= sqrt n max|error|.
  const double tolerance = std::sqrt(static_cast<double>(n)) * spectrum.rounding_band * unit;
  EXPECT_NEAR((spectrum.eigenvalues * unit).norm(), (h * unit).norm(), tolerance);
}

TEST_P(DenseSpectrumOf, AgreesWithEigen) {
  const double difference =
      test::largest_difference(spectrum.eigenvalues * unit, test::eigenvalues(h * unit));
  EXPECT_LE(difference, 2.0 * spectrum.rounding_band * unit);  // either may err by the band
}

TEST_P(DenseSpectrumOf, MirrorsThatOfTheNegative) {
  const Spectrum negative = dense_spectrum(-h);
  ASSERT_EQ(negative.status, Status::kOk);
  const VectorXd mirrored = -negative.eigenvalues.reverse();
  EXPECT_LE(test::largest_difference(spectrum.eigenvalues, mirrored), 2.0 * spectrum.rounding_band);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         DenseSpectrumOf,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values<Index>(1, 2, 3, 5, 20, 300)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace hesscope
