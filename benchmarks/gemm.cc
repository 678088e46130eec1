// SPDX-License-Identifier: BSD-3-Clause
#include "gemm.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "stopwatch.h"

// Declared here because the cblas.h on the include path may be another BLAS's.
extern "C" {
char* openblas_get_corename();
void openblas_set_num_threads(int num_threads);
void dgemm_(const char* trans_a,
            const char* trans_b,
            const int* m,
            const int* n,
            const int* k,
            const double* alpha,
            const double* a,
            const int* lda,
            const double* b,
            const int* ldb,
            const double* beta,
            double* c,
            const int* ldc);
}

namespace hesscope::bench {
namespace {

// OpenBLAS's threads spin for some 2^26 cycles after a product, and would slow down what follows.
constexpr std::chrono::milliseconds kUntilAsleep(60);

}  // namespace

std::string openblas_core() { return openblas_get_corename(); }

Gemm::Gemm(double gflop, int num_threads)
    : num_threads_(num_threads),
      a_(Eigen::MatrixXd::Constant(
          std::lround(std::cbrt(0.5e9 * gflop)), std::lround(std::cbrt(0.5e9 * gflop)), 1.25)),
      b_(a_),
      c_(a_) {}

double Gemm::gflop() const { return 2e-9 * std::pow(static_cast<double>(a_.rows()), 3); }

Gemm::Run Gemm::run() {
  const int n = static_cast<int>(a_.rows());
  const double one = 1;
  const double zero = 0;
  openblas_set_num_threads(num_threads_);
  const std::clock_t cpu_begin = std::clock();  // over all threads
  const Stopwatch stopwatch;
  dgemm_("N", "N", &n, &n, &n, &one, a_.data(), &n, b_.data(), &n, &zero, c_.data(), &n);
  const double seconds = stopwatch.seconds();
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  std::this_thread::sleep_for(kUntilAsleep);
  return {seconds, cpu_seconds / (seconds * num_threads_)};
}

}  // namespace hesscope::bench
