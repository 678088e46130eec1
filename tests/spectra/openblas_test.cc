// SPDX-License-Identifier: BSD-3-Clause
//
// Built only where the BLAS is OpenBLAS.
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>

#include <hesscope/linalg/blas.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>
#include <hesscope/spectra/lanczos_quadrature.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/same_bits.h"
#include "support/matrices.h"

extern "C" {
int openblas_get_num_threads(void);
void openblas_set_num_threads(int num_threads);
}

namespace hesscope {
namespace {

// Sets OpenBLAS's thread count for one scope.
class BlasThreads {
 public:
  explicit BlasThreads(int num_threads) : before_(openblas_get_num_threads()) {
    openblas_set_num_threads(num_threads);
  }

  ~BlasThreads() { openblas_set_num_threads(before_); }

  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

TEST(DenseSpectrum, GivesTheSameBitsForAnyNumberOfBlasThreads) {
  const Eigen::MatrixXd h = test::random_symmetric(500, 47);
  const Spectrum reference = [&] {
    const BlasThreads one(1);
    return dense_spectrum(h);
  }();
  ASSERT_EQ(reference.status, Status::kOk);
  for (const int num_threads : {2, 3, 4}) {
    SCOPED_TRACE(num_threads);
    const BlasThreads several(num_threads);
    ASSERT_EQ(openblas_get_num_threads(), num_threads);
    test::expect_same_bits(dense_spectrum(h), reference);
  }
}

TEST(Spectra, GiveTheSameBitsForAnyNumberOfBlasThreads) {
  const Eigen::MatrixXd h = test::random_symmetric(500, 48);

  struct Results {
    RankedEigenvalue median;
    Extremes extremes;
    Eigen::VectorXd diagonal;  // of the tridiagonal form by two stages
    Inertia inertia;
    Eigensystem eigensystem;
    LanczosQuadrature quadrature;
  };

  const auto compute = [&h](int num_threads) {
    const BlasThreads threads(num_threads);
    Results results{EigenvalueCounter(h).median(),
                    extreme_eigenpairs(h),
                    {},
                    ShiftedFactorization(h, 0.1).inertia(),
                    dense_eigensystem(h),
                    lanczos_quadrature(MatrixOperator(h), {.num_probes = 4, .num_steps = 60})};
    const detail::SingleThreadedBlas one_thread;  // TridiagonalForm leaves it to its callers
    results.diagonal = detail::TridiagonalForm(h, 0).t().diagonal;
    return results;
  };
  const Results reference = compute(1);
  ASSERT_EQ(reference.extremes.largest.proof, Proof::kCounted);
  ASSERT_EQ(reference.eigensystem.status, Status::kOk);
  ASSERT_EQ(reference.quadrature.status, Status::kOk);
  for (const int num_threads : {2, 3, 4}) {
    SCOPED_TRACE(num_threads);
    const Results results = compute(num_threads);
    EXPECT_EQ(results.median.eigenvalue.value, reference.median.eigenvalue.value);
    EXPECT_EQ(results.median.vector, reference.median.vector);
    EXPECT_EQ(results.extremes.smallest.vectors, reference.extremes.smallest.vectors);
    EXPECT_EQ(results.extremes.largest.values, reference.extremes.largest.values);
    EXPECT_EQ(results.extremes.largest.error_bound, reference.extremes.largest.error_bound);
    EXPECT_EQ(results.diagonal, reference.diagonal);
    EXPECT_EQ(results.inertia.num_below, reference.inertia.num_below);
    EXPECT_EQ(results.eigensystem.eigenvalues, reference.eigensystem.eigenvalues);
    EXPECT_TRUE(results.eigensystem.eigenvectors == reference.eigensystem.eigenvectors);
    EXPECT_EQ(results.quadrature.measure.nodes, reference.quadrature.measure.nodes);
    EXPECT_EQ(results.quadrature.measure.weights, reference.quadrature.measure.weights);
  }
}

// Sizes at which OpenBLAS parts a product among threads.
TEST(DenseExtremes, GiveTheSameBitsForAnyNumberOfBlasThreads) {
  for (const Eigen::Index n : {150, 251, 300}) {
    SCOPED_TRACE(n);
    const Eigen::MatrixXd h = test::random_symmetric(n, 51);
    const auto residuals = [&h](int num_threads) {
      const BlasThreads threads(num_threads);
      const Extremes found = extreme_eigenpairs(h, {.num_smallest = 30, .num_largest = 30});
      Eigen::VectorXd both(60);
      both << found.smallest.residuals, found.largest.residuals;
      return both;
    };
    const Eigen::VectorXd reference = residuals(1);
    for (const int num_threads : {2, 3}) EXPECT_EQ(residuals(num_threads), reference);
  }
}

TEST(DenseSpectrum, RestoresTheNumberOfBlasThreads) {
  const BlasThreads two(2);
  EXPECT_EQ(dense_spectrum(test::laplacian(10)).status, Status::kOk);
  EXPECT_EQ(openblas_get_num_threads(), 2);
  EXPECT_THROW(dense_spectrum(Eigen::MatrixXd(0, 0)), std::exception);
  EXPECT_EQ(openblas_get_num_threads(), 2);
}

TEST(UseOneBlasThread, EndsThoseOfOpenBlasAndStartsNoneAgain) {
  const BlasThreads two(2);
  const auto num_threads = [] {
    using Entries = std::filesystem::directory_iterator;
    return std::distance(Entries("/proc/self/task"), Entries());
  };
  const Spectrum reference = dense_spectrum(test::random_symmetric(100, 49));
  const auto before = num_threads();
  use_one_blas_thread();
  EXPECT_EQ(openblas_get_num_threads(), 1);
  // The system lists a thread for a moment after it was joined.
  for (int i = 0; i < 1000 && num_threads() == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto after = num_threads();
  EXPECT_LT(after, before);
  test::expect_same_bits(dense_spectrum(test::random_symmetric(100, 49)), reference);
  EXPECT_EQ(openblas_get_num_threads(), 1);
  EXPECT_EQ(num_threads(), after);
}

}  // namespace
}  // namespace hesscope
