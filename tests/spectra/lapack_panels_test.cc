// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions that say how far they are against LAPACK's own, which do not: the same bits.
#include <cstddef>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/progress.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/internal/lapack_call.h>
#include <hesscope/spectra/internal/band_reduction.h>

#include "support/matrices.h"

// NOLINTBEGIN(readability-identifier-naming): names of Fortran
extern "C" {
void dsytrd_sy2sb_(const char* uplo,
                   const lapack_int* n,
                   const lapack_int* kd,
                   double* a,
                   const lapack_int* lda,
                   double* ab,
                   const lapack_int* ldab,
                   double* tau,
                   double* work,
                   const lapack_int* lwork,
                   lapack_int* info,
                   std::size_t uplo_length);
void dsytrd_sb2st_(const char* stage1,
                   const char* vect,
                   const char* uplo,
                   const lapack_int* n,
                   const lapack_int* kd,
                   double* ab,
                   const lapack_int* ldab,
                   double* d,
                   double* e,
                   double* hous,
                   const lapack_int* lhous,
                   double* work,
                   const lapack_int* lwork,
                   lapack_int* info,
                   std::size_t stage1_length,
                   std::size_t vect_length,
                   std::size_t uplo_length);
}

// NOLINTEND(readability-identifier-naming)

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Fractions of progress, which must go up and end at 1.
class Fractions {
 public:
  ProgressCallback callback() {
    return [this](double fraction) {
      EXPECT_GE(fraction, last_);
      EXPECT_LE(fraction, 1.0);
      last_ = fraction;
      ++count_;
      return true;
    };
  }

  double last() const { return last_; }

  int count() const { return count_; }

 private:
  double last_ = 0.0;
  int count_ = 0;
};

ProgressCallback stop_at(double fraction, double& last) {
  return [fraction, &last](double done) {
    last = done;
    return done < fraction;
  };
}

class Panels : public ::testing::TestWithParam<Index> {
 protected:
  const Index n = GetParam();
  const MatrixXd h = test::random_symmetric(n, 11);
  const detail::SingleThreadedBlas one_thread;
};

TEST_P(Panels, TridiagonalizeAsDsytrdDoes) {
  const lapack_int size = detail::to_lapack(n);
  MatrixXd theirs = h;
  VectorXd d(n);
  VectorXd e(n - 1);
  VectorXd tau(n - 1);
  ASSERT_EQ(LAPACKE_dsytrd(
                LAPACK_COL_MAJOR, 'L', size, theirs.data(), size, d.data(), e.data(), tau.data()),
            0);
  MatrixXd ours = h;
  Fractions fractions;
  const detail::Reduction reduction = detail::tridiagonalize(ours, fractions.callback());
  EXPECT_EQ(reduction.t.diagonal, d);
  EXPECT_EQ(reduction.t.off_diagonal, e);
  EXPECT_EQ(reduction.tau, tau);
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(fractions.count(), (n - 1) / 32);
}

TEST_P(Panels, FactorAsDsytrfDoes) {
  const lapack_int size = detail::to_lapack(n);
  MatrixXd theirs = h;
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(LAPACKE_dsytrf(LAPACK_COL_MAJOR, 'L', size, theirs.data(), size, pivots.data()), 0);
  Fractions fractions;
  const detail::Ldlt ldlt = detail::factor_ldlt(h, fractions.callback());
  EXPECT_EQ(ldlt.factors, theirs);
  EXPECT_EQ(ldlt.pivots, std::vector<std::int64_t>(pivots.begin(), pivots.end()));
  EXPECT_FALSE(ldlt.is_singular);
  EXPECT_EQ(fractions.last(), 1.0);
}

TEST_P(Panels, ReduceToBandAndTridiagonalAsTwoStagesOfLapackDo) {
  constexpr lapack_int kBandwidth = 64;
  if (n <= kBandwidth) GTEST_SKIP() << "no band";
  const lapack_int size = detail::to_lapack(n);
  const lapack_int leading = kBandwidth + 1;
  MatrixXd theirs = h;
  MatrixXd band = MatrixXd::Zero(leading, n);
  VectorXd tau = VectorXd::Zero(n - kBandwidth);
  lapack_int info = 0;
  detail::run_with_workspace("dsytrd_sy2sb", [&](double* work, lapack_int length) {
    dsytrd_sy2sb_("L",
                  &size,
                  &kBandwidth,
                  theirs.data(),
                  &size,
                  band.data(),
                  &leading,
                  tau.data(),
                  work,
                  &length,
                  &info,
                  1);
    return info;
  });
  MatrixXd ours = h;
  Fractions of_band;
  const detail::BandReduction reduction = detail::reduce_to_band(ours, of_band.callback());
  EXPECT_EQ(reduction.band, band);
  EXPECT_EQ(reduction.tau, tau);
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(of_band.last() > 0.0, n > kBandwidth + 1);

  VectorXd d(n);
  VectorXd e(n - 1);
  std::vector<double> reflectors(static_cast<std::size_t>(4 * n));
  const auto num_reflectors = static_cast<lapack_int>(reflectors.size());
  detail::run_with_workspace("dsytrd_sb2st", [&](double* work, lapack_int length) {
    dsytrd_sb2st_("Y",
                  "N",
                  "L",
                  &size,
                  &kBandwidth,
                  band.data(),
                  &leading,
                  d.data(),
                  e.data(),
                  reflectors.data(),
                  &num_reflectors,
                  work,
                  &length,
                  &info,
                  1,
                  1,
                  1);
    return info;
  });
  Fractions of_chase;
  const detail::Tridiagonal t = detail::tridiagonalize(reduction, of_chase.callback());
  EXPECT_EQ(t.diagonal, d);
  EXPECT_EQ(t.off_diagonal, e);
  EXPECT_EQ(of_chase.last(), 1.0);
}

// Around one and several panels and bandwidths.
INSTANTIATE_TEST_SUITE_P(
    Sizes, Panels, ::testing::Values(1, 2, 31, 32, 33, 64, 65, 66, 96, 127, 128, 129, 200, 333));

TEST(Panels, StopWhereProgressSaysSo) {
  const MatrixXd h = test::random_symmetric(400, 12);
  const detail::SingleThreadedBlas one_thread;
  MatrixXd a = h;
  double last = 0;
  EXPECT_THROW(detail::tridiagonalize(a, stop_at(0.5, last)), Interrupted);
  EXPECT_LT(last, 0.7);
  EXPECT_THROW(detail::factor_ldlt(h, stop_at(0.5, last)), Interrupted);
  EXPECT_LT(last, 0.9);
  a = h;
  EXPECT_THROW(detail::reduce_to_band(a, stop_at(0.3, last)), Interrupted);
  EXPECT_LT(last, 0.6);
  a = h;
  const detail::BandReduction reduction = detail::reduce_to_band(a);
  EXPECT_THROW(detail::tridiagonalize(reduction, stop_at(0.5, last)), Interrupted);
  EXPECT_LT(last, 0.6);
}

}  // namespace
}  // namespace hesscope
