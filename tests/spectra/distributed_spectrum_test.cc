// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithm around a library for matrices on several processes, by a matrix on one: its
// answers, and that a library which errs is found out. ScaLAPACK itself: tests/mpi.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/distributed_spectrum.h>

#include "spectra/local_matrix.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/quadratic_objective.h"
#include "support/thread_team.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Spoil = std::function<void(detail::Tridiagonal&)>;

using SpoilVectors = std::function<void(MatrixXd&)>;

// The result of the first rank.
DistributedSpectrum spectrum_of(const MatrixXd& h,
                                int num_ranks = 1,
                                const Spoil& spoil = {},
                                bool proves_fully = false,
                                const SpoilVectors& spoil_vectors = {}) {
  DistributedSpectrum found;
  test::on_ranks(num_ranks, [&](const std::shared_ptr<Team>& team) {
    const test::QuadraticObjective objective({h});
    const test::LocalSolver solver(team, spoil, spoil_vectors);
    const VectorXd theta = VectorXd::Zero(h.rows());
    if (team->rank() == 0) {
      found = distributed_spectrum(solver, objective, theta, {.proves_fully = proves_fully});
    } else {
      serve_distributed_spectrum(solver, objective, theta, proves_fully);
    }
  });
  return found;
}

DistributedSpectrum proved_spectrum_of(const MatrixXd& h,
                                       const Spoil& spoil = {},
                                       const SpoilVectors& spoil_vectors = {}) {
  return spectrum_of(h, 1, spoil, true, spoil_vectors);
}

MatrixXd some_matrix() {
  VectorXd values = VectorXd::LinSpaced(90, -1.5, 4.0);
  values.segment(20, 12).setZero();
  MatrixXd h = test::with_eigenvalues(values, 7);
  h.row(33).setZero();  // dead
  h.col(33).setZero();
  return h;
}

TEST(DistributedSpectrum, IsTheDenseOne) {
  for (const double factor : {1.0, 0x1p-900, 0x1p900}) {
    const MatrixXd h = factor * some_matrix();
    const Spectrum dense = dense_spectrum(h);
    const DistributedSpectrum found = spectrum_of(h);
    const Spectrum& spectrum = found.spectrum;
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_EQ(spectrum.proof, Proof::kDense);
    const double band = dense.rounding_band;
    EXPECT_LE(test::largest_difference(spectrum.eigenvalues, dense.eigenvalues), band);
    EXPECT_EQ(spectrum.smallest.value, spectrum.eigenvalues[0]);
    EXPECT_EQ(spectrum.median.value, spectrum.eigenvalues[44]);
    EXPECT_EQ(spectrum.largest.value, spectrum.eigenvalues[89]);
    EXPECT_LE(std::abs(spectrum.median_magnitude - dense.median_magnitude), band);
    for (const Eigenvalue& each : {spectrum.smallest, spectrum.median, spectrum.largest}) {
      EXPECT_LE(each.residual, band);
    }
    EXPECT_EQ(spectrum.num_negative, dense.num_negative);
    EXPECT_EQ(spectrum.num_zero, dense.num_zero);
    EXPECT_EQ(spectrum.num_positive, dense.num_positive);
    EXPECT_EQ(spectrum.num_dead, 1);
    EXPECT_TRUE(found.diagonal == h.diagonal());
    EXPECT_NEAR(found.frobenius_norm / factor, some_matrix().norm(), 1e-12);
  }
}

TEST(DistributedSpectrum, IsTheSameForAnyNumberOfRanks) {
  const MatrixXd h = some_matrix();
  const DistributedSpectrum alone = spectrum_of(h);
  ASSERT_EQ(alone.spectrum.status, Status::kOk);
  for (const int num_ranks : {2, 3, 7}) {
    const DistributedSpectrum found = spectrum_of(h, num_ranks);
    EXPECT_TRUE(found.spectrum.eigenvalues == alone.spectrum.eigenvalues);
    EXPECT_EQ(found.spectrum.median.residual, alone.spectrum.median.residual);
  }
}

TEST(DistributedSpectrum, OfSmallAndOfPlainMatrices) {
  EXPECT_EQ(spectrum_of(MatrixXd::Constant(1, 1, -3.0)).spectrum.smallest.value, -3.0);
  for (const Index n : {1, 5}) {
    const Spectrum zero = spectrum_of(MatrixXd::Zero(n, n)).spectrum;
    ASSERT_EQ(zero.status, Status::kOk);
    EXPECT_EQ(zero.num_zero, n);
    EXPECT_EQ(zero.num_dead, n);
    const Spectrum one = spectrum_of(MatrixXd::Identity(n, n), 2).spectrum;
    ASSERT_EQ(one.status, Status::kOk);
    EXPECT_EQ(one.num_positive, n);
    EXPECT_NEAR(one.median.value, 1.0, one.rounding_band);
  }
}

TEST(DistributedSpectrum, SaysThatAMatrixIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    MatrixXd h = some_matrix();
    h(8, 3) = h(3, 8) = bad;
    const DistributedSpectrum found = spectrum_of(h);
    EXPECT_EQ(found.spectrum.status, Status::kNonFinite);
    EXPECT_EQ(found.diagonal.size(), 0);
  }
}

// Each breaks one of the checks alone, or nearly so.
TEST(DistributedSpectrum, FailsWhereTheReductionIsWrong) {
  const MatrixXd h = some_matrix();
  const double band = spectrum_of(h).spectrum.rounding_band;
  const std::vector<Spoil> wrong = {
      [](detail::Tridiagonal& t) { t.diagonal[40] += 1e-6; },
      [](detail::Tridiagonal& t) { t.diagonal *= 1.0 + 1e-9; },
      // Changes that keep the trace ...
      [](detail::Tridiagonal& t) { t.off_diagonal[40] *= 1.1; },
      // ... and that also keep the norm; the ends move.
      [](detail::Tridiagonal& t) { std::swap(t.off_diagonal[0], t.off_diagonal[40]); },
      [](detail::Tridiagonal& t) { t.diagonal[3] = kNaN; },
      // All eigenvalues have changed their signs.
      [](detail::Tridiagonal& t) { t.diagonal = -t.diagonal; },
      [](detail::Tridiagonal& t) {
        t.diagonal.setZero();
        t.off_diagonal.setZero();
      },
  };
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    SCOPED_TRACE(k);
    const Spectrum found = spectrum_of(h, 1, wrong[k]).spectrum;
    EXPECT_EQ(found.status, Status::kFailed);
    EXPECT_EQ(found.proof, Proof::kNone);
    EXPECT_EQ(found.eigenvalues.size(), 0);
  }
  // A change of the size of rounding is accepted.
  const Spoil harmless = [&](detail::Tridiagonal& t) { t.diagonal[40] += 0.01 * band; };
  EXPECT_EQ(spectrum_of(h, 1, harmless).spectrum.status, Status::kOk);
}

TEST(DistributedSpectrum, BoundsTheErrorOfEveryEigenvalue) {
  EXPECT_TRUE(std::isnan(spectrum_of(some_matrix()).spectrum.error_bound));
  for (const double factor : {1.0, 0x1p-900, 0x1p900}) {
    const MatrixXd h = factor * some_matrix();
    const Spectrum plain = spectrum_of(h).spectrum;
    const Spectrum found = proved_spectrum_of(h).spectrum;
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_TRUE(found.eigenvalues == plain.eigenvalues);
    EXPECT_GT(found.error_bound, 0.0);
    EXPECT_LE(found.error_bound, found.rounding_band);
  }
  // By the eigenvalues that a matrix was made with.
  const VectorXd values = VectorXd::LinSpaced(60, -1.0, 2.0);
  const MatrixXd h = test::with_eigenvalues(values, 11);
  const Spectrum found = proved_spectrum_of(h).spectrum;
  ASSERT_EQ(found.status, Status::kOk);
  // What `h` itself was rounded by comes on top.
  EXPECT_LE(test::largest_difference(found.eigenvalues, values), 2.0 * found.rounding_band);
  for (const Index n : {1, 5}) {
    EXPECT_EQ(proved_spectrum_of(MatrixXd::Zero(n, n)).spectrum.error_bound, 0.0);
    EXPECT_EQ(proved_spectrum_of(MatrixXd::Identity(n, n)).spectrum.status, Status::kOk);
  }
}

// What trace, norm and ends leave open: eigenvalues between the ends with the same sums and the
// same squares.
TEST(DistributedSpectrum, OfWrongEigenvaluesBetweenTheEndsIsFoundOutInFull) {
  VectorXd values = VectorXd::LinSpaced(40, -1.0, 1.0);
  values.segment(10, 3) << 0.0, 0.25, 0.5;
  const MatrixXd h = values.asDiagonal();
  // (1, -1, 0) turned about (1, 1, 1): as much to the sum and to the squares.
  const Spoil wrong = [](detail::Tridiagonal& t) {
    const Eigen::Vector3d at = t.diagonal.segment(10, 3);
    const double mean = at.mean();
    const Eigen::Vector3d apart = at.array() - mean;
    const Eigen::Vector3d axis = Eigen::Vector3d::Constant(1.0 / std::sqrt(3.0));
    constexpr double kAngle = 0.3;
    t.diagonal.segment(10, 3) =
        (apart * std::cos(kAngle) + axis.cross(apart) * std::sin(kAngle)).array() + mean;
  };
  ASSERT_EQ(spectrum_of(h, 1, wrong).spectrum.status, Status::kOk);
  const Spectrum found = proved_spectrum_of(h, wrong).spectrum;
  EXPECT_EQ(found.status, Status::kFailed);
  EXPECT_EQ(found.proof, Proof::kNone);
  EXPECT_EQ(found.eigenvalues.size(), 0);
  EXPECT_TRUE(std::isnan(found.error_bound));
}

TEST(DistributedSpectrum, IsNotProvedByWrongVectors) {
  const MatrixXd h = some_matrix();
  const std::vector<SpoilVectors> wrong = {
      // Eigenvectors, but one of them twice ...
      [](MatrixXd& q) { q.col(1) = q.col(0); },
      // ... or of those of zero, where the residual sees nothing.
      [](MatrixXd& q) { q.col(26) = q.col(25); },
      [](MatrixXd& q) { q.col(7).setZero(); },
      [](MatrixXd& q) { q.col(60).swap(q.col(80)); },
      [](MatrixXd& q) { q.setZero(); },
      [](MatrixXd& q) { q(3, 4) = kNaN; },
  };
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    EXPECT_EQ(proved_spectrum_of(h, {}, wrong[k]).spectrum.status, Status::kFailed) << k;
  }
  // The theorem asks for no unit vectors, and the bound has its price.
  const SpoilVectors longer = [](MatrixXd& q) { q *= 1.0005; };
  const Spectrum found = proved_spectrum_of(h, {}, longer).spectrum;
  EXPECT_EQ(found.status, Status::kOk);
  EXPECT_GT(found.error_bound, proved_spectrum_of(h).spectrum.error_bound);
}

TEST(DistributedSpectrum, EndsOnAllRanksWhereTheFirstIsInterrupted) {
  for (const double last : {0.0, 0.3, 0.6, 0.9}) {
    int num_interrupted = 0;
    std::mutex mutex;
    test::on_ranks(3, [&](const std::shared_ptr<Team>& team) {
      const test::QuadraticObjective objective({some_matrix()});
      const test::LocalSolver solver(team);
      const VectorXd theta = VectorXd::Zero(90);
      const auto on_rank = [&] {
        if (team->rank() > 0) return serve_distributed_spectrum(solver, objective, theta, true);
        // The fill of a LocalMatrix reports alone.
        distributed_spectrum(solver, objective, theta, {.proves_fully = true}, [&](double done) {
          return done < 0.5 || done <= 0.5 + last / 2;
        });
      };
      try {
        on_rank();
      } catch (const Interrupted&) {
        const std::lock_guard lock(mutex);
        ++num_interrupted;
      }
    });
    EXPECT_EQ(num_interrupted, 3) << last;
  }
}

}  // namespace
}  // namespace hesscope
