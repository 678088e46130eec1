// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <Eigen/Core>

namespace hesscope::bench {

/// The processor for which OpenBLAS has chosen its kernels: the one that it detects, or
/// OPENBLAS_CORETYPE. "Haswell" and "Zen" are AVX2, "SkylakeX" is AVX-512.
std::string openblas_core();

/// A square OpenBLAS dgemm, the unit of times: a work of x GFLOP takes as long as a dgemm of x
/// GFLOP on as many threads, measured at the same time.
class Gemm {
 public:
  /// @param gflop  approximately; the matrices have (gflop / 2)^(1/3) thousand rows.
  Gemm(double gflop, int num_threads);

  /// 2 n^3 / 10^9.
  double gflop() const;

  struct Run {
    double seconds;    ///< wall time
    double cpu_share;  ///< processor time over wall time and threads: 1 on an idle machine
  };

  /// Multiplies once. OpenBLAS's threads are asleep again on return.
  Run run();

 private:
  int num_threads_;
  Eigen::MatrixXd a_;
  Eigen::MatrixXd b_;
  Eigen::MatrixXd c_;
};

}  // namespace hesscope::bench
