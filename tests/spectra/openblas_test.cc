// SPDX-License-Identifier: BSD-3-Clause
//
// Built only where the BLAS is OpenBLAS.
#include <gtest/gtest.h>

#include <hesscope/spectra/spectrum.h>

#include "spectra/matrices.h"
#include "spectra/same_bits.h"

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

TEST(DenseSpectrum, RestoresTheNumberOfBlasThreads) {
  const BlasThreads two(2);
  EXPECT_EQ(dense_spectrum(test::laplacian(10)).status, Status::kOk);
  EXPECT_EQ(openblas_get_num_threads(), 2);
  EXPECT_THROW(dense_spectrum(Eigen::MatrixXd(0, 0)), std::exception);
  EXPECT_EQ(openblas_get_num_threads(), 2);
}

}  // namespace
}  // namespace hesscope
