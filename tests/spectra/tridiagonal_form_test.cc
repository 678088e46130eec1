// SPDX-License-Identifier: BSD-3-Clause
//
// Two stages against one, on sizes that fill panels of the band exactly, barely and not.
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <tuple>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRoundoff = std::numeric_limits<double>::epsilon();

struct Kind {
  const char* name;
  MatrixXd (*make)(Index n);
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const Kind kKinds[] = {
    {"Random", [](Index n) { return test::random_symmetric(n, 3); }},
    {"Zero", [](Index n) -> MatrixXd { return MatrixXd::Zero(n, n); }},
    {"Identity", [](Index n) -> MatrixXd { return MatrixXd::Identity(n, n); }},
    {"Laplacian", [](Index n) { return test::laplacian(n); }},
    {"RankTwo",
     [](Index n) -> MatrixXd {
       const MatrixXd factor = test::random_matrix(n, 2, 4);
       return factor * factor.transpose();
     }},
    {"TenfoldLargest",
     [](Index n) {
       VectorXd values = VectorXd::LinSpaced(n, -1.0, 1.0);
       values.tail(10).setConstant(2.0);
       return test::with_eigenvalues(values, 5);
     }},
    {"HalfDead",
     [](Index n) -> MatrixXd {
       MatrixXd h = MatrixXd::Zero(n, n);
       h.bottomRightCorner(n / 2, n / 2) = test::random_symmetric(n / 2, 6);
       return h;
     }},
};

class TwoStages : public ::testing::TestWithParam<std::tuple<Kind, Index>> {
 protected:
  const Index n = std::get<1>(GetParam());
  const MatrixXd h = std::get<0>(GetParam()).make(n);
  const Spectrum one_stage = dense_spectrum(h);  // n is below TridiagonalForm::kTwoStages
};

TEST_P(TwoStages, HasTheEigenvaluesOfOneStage) {
  ASSERT_LT(n, detail::TridiagonalForm::kTwoStages);
  const detail::TridiagonalForm form(h, 0);
  const auto values = detail::eigenvalues(form.t());
  ASSERT_TRUE(values);
  EXPECT_LE(test::largest_difference(*values, one_stage.eigenvalues),
            2.0 * one_stage.rounding_band);
}

TEST_P(TwoStages, KeepsTheMatrixForResiduals) {
  const detail::TridiagonalForm form(h, 0);
  EXPECT_EQ(form.lower_triangle(), MatrixXd(h.triangularView<Eigen::Lower>()));
}

TEST_P(TwoStages, FindsUnitEigenvectorsWithSmallResiduals) {
  detail::TridiagonalForm form(h, 0);
  const auto values = detail::eigenvalues(form.t());
  ASSERT_TRUE(values);
  const double norm = test::largest_magnitude(*values);
  for (const Index rank : {Index{0}, n / 3, (n - 1) / 2, n - 2, n - 1}) {
    const auto v = form.eigenvector(rank, (*values)[rank]);
    ASSERT_TRUE(v) << rank;
    EXPECT_NEAR(v->norm(), 1.0, 1e-14);
    const double residual = (h * *v - (*values)[rank] * *v).norm();
    EXPECT_LE(residual, 30.0 * static_cast<double>(n) * kRoundoff * norm) << rank;
    EXPECT_NEAR(form.residual(*v, (*values)[rank]), residual, 1e-13 * norm);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         TwoStages,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::Values<Index>(65, 66, 127, 128, 129, 300)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

// Where the public functions take two stages.
TEST(DenseSpectrum, OfALargeMatrixHasItsClosedForm) {
  const Index n = detail::TridiagonalForm::kTwoStages;
  const MatrixXd h = test::laplacian(n);
  const Spectrum spectrum = dense_spectrum(h);
  ASSERT_EQ(spectrum.status, Status::kOk);
  for (Index k = 0; k < n; ++k) {
    const double angle = static_cast<double>(k + 1) * std::acos(-1.0) / static_cast<double>(n + 1);
    ASSERT_NEAR(spectrum.eigenvalues[k], 2.0 - 2.0 * std::cos(angle), spectrum.rounding_band);
  }
  EigenvalueCounter counter(h);
  const RankedEigenvalue median = counter.median();
  EXPECT_NEAR(median.eigenvalue.value, spectrum.median.value, spectrum.rounding_band);
  for (const Eigenvalue& e :
       {spectrum.smallest, spectrum.median, spectrum.largest, median.eigenvalue}) {
    EXPECT_LE(e.residual, spectrum.rounding_band);
  }
}

}  // namespace
}  // namespace hesscope
