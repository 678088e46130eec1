// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <hesscope/spectra/band_reduction.h>
#include <hesscope/spectra/lapack_call.h>

// Left out by LAPACKE. They hand their characters on, so the lengths of these must be passed.
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

namespace hesscope::detail {

BandReduction reduce_to_band(Eigen::MatrixXd& a) {
  constexpr lapack_int kBandwidth = 64;
  const lapack_int n = to_lapack(a.rows());
  BandReduction r{
      kBandwidth, Eigen::MatrixXd::Zero(kBandwidth + 1, n), Eigen::VectorXd::Zero(n - kBandwidth)};
  const lapack_int leading = kBandwidth + 1;
  run_with_workspace("dsytrd_sy2sb", [&](double* work, lapack_int size) {
    lapack_int info = 0;
    dsytrd_sy2sb_("L",
                  &n,
                  &kBandwidth,
                  a.data(),
                  &n,
                  r.band.data(),
                  &leading,
                  r.tau.data(),
                  work,
                  &size,
                  &info,
                  1);
    return info;
  });
  return r;
}

Tridiagonal tridiagonalize(const BandReduction& reduction) {
  const lapack_int n = to_lapack(reduction.band.cols());
  const lapack_int b = to_lapack(reduction.bandwidth);
  const lapack_int leading = b + 1;
  Eigen::MatrixXd band = reduction.band;
  Tridiagonal t{Eigen::VectorXd(n), Eigen::VectorXd(n - 1)};
  // The query says how much room the reflectors need, which are not wanted afterwards.
  double reflectors_size = 0.0;
  std::vector<double> reflectors;
  run_with_workspace("dsytrd_sb2st", [&](double* work, lapack_int size) {
    const bool is_query = size == -1;
    if (!is_query) reflectors.resize(static_cast<std::size_t>(reflectors_size));
    const lapack_int num_reflectors = is_query ? -1 : static_cast<lapack_int>(reflectors.size());
    lapack_int info = 0;
    dsytrd_sb2st_("Y",
                  "N",
                  "L",
                  &n,
                  &b,
                  band.data(),
                  &leading,
                  t.diagonal.data(),
                  t.off_diagonal.data(),
                  is_query ? &reflectors_size : reflectors.data(),
                  &num_reflectors,
                  work,
                  &size,
                  &info,
                  1,
                  1,
                  1);
    return info;
  });
  return t;
}

std::optional<Eigen::VectorXd> eigenvector(const BandReduction& reduction, double eigenvalue) {
  const Eigen::Index n = reduction.band.cols();
  const Eigen::Index b = reduction.bandwidth;
  // dgbtrf's layout: entry (i, j) at (2 b + i - j, j); the first b rows are for fill.
  Eigen::MatrixXd factors = Eigen::MatrixXd::Zero(3 * b + 1, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    factors(2 * b, j) = reduction.band(0, j) - eigenvalue;
    for (Eigen::Index k = 1; k <= b && j + k < n; ++k) {
      factors(2 * b + k, j) = factors(2 * b - k, j + k) = reduction.band(k, j);
    }
  }
  const lapack_int rows = to_lapack(n);
  const lapack_int width = to_lapack(b);
  const lapack_int leading = 3 * width + 1;
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
  LAPACKE_dgbtrf_work(
      LAPACK_COL_MAJOR, rows, rows, width, width, factors.data(), leading, pivots.data());
  // A pivot lost to rounding is as good as one of the size of rounding.
  const double largest = reduction.band.cwiseAbs().maxCoeff();
  const double smallest = std::numeric_limits<double>::epsilon() * (largest > 0.0 ? largest : 1.0);
  for (Eigen::Index j = 0; j < n; ++j) {
    double& pivot = factors(2 * b, j);
    if (std::abs(pivot) < smallest) pivot = std::copysign(smallest, pivot);
  }
  // A start that is orthogonal to no eigenvector likely to occur.
  Eigen::VectorXd v(n);
  for (Eigen::Index i = 0; i < n; ++i) v[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i * i));
  constexpr int kIterations = 3;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    v.normalize();
    LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR,
                        'N',
                        rows,
                        width,
                        width,
                        1,
                        factors.data(),
                        leading,
                        pivots.data(),
                        v.data(),
                        rows);
  }
  if (!v.allFinite() || !(v.norm() > 0.0)) return std::nullopt;
  return v.normalized();
}

Eigen::VectorXd apply_q(Eigen::MatrixXd& reduced,
                        const BandReduction& reduction,
                        Eigen::VectorXd v) {
  const Eigen::Index n = reduced.rows();
  const Eigen::Index b = reduction.bandwidth;
  // Q is a product over panels of b columns; the last one acts first.
  for (Eigen::Index first = (n - b - 1) / b * b; first >= 0; first -= b) {
    const Eigen::Index begin = first + b;
    const lapack_int num_rows = to_lapack(n - begin);
    run_with_workspace("dormqr", [&](double* work, lapack_int size) {
      return LAPACKE_dormqr_work(LAPACK_COL_MAJOR,
                                 'L',
                                 'N',
                                 num_rows,
                                 1,
                                 std::min(num_rows, to_lapack(b)),
                                 &reduced(begin, first),
                                 to_lapack(n),
                                 reduction.tau.data() + first,
                                 v.data() + begin,
                                 num_rows,
                                 work,
                                 size);
    });
  }
  return v;
}

}  // namespace hesscope::detail
