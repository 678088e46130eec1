// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/linalg/internal/blas_call.h>
#include <hesscope/spectra/internal/band_reduction.h>

// Missing in LAPACKE. It passes on its character argument, so the length of that must be passed.
// NOLINTBEGIN(readability-identifier-naming): names of Fortran
extern "C" void dsb2st_kernels_(const char* uplo,
                                const lapack_int* wants_vectors,
                                const lapack_int* type,
                                const lapack_int* first,
                                const lapack_int* last,
                                const lapack_int* sweep,
                                const lapack_int* n,
                                const lapack_int* bandwidth,
                                const lapack_int* ib,
                                double* a,
                                const lapack_int* lda,
                                double* v,
                                double* tau,
                                const lapack_int* ldv,
                                double* work,
                                std::size_t uplo_length);

// NOLINTEND(readability-identifier-naming)

namespace hesscope::detail {
namespace {

constexpr double kOne = 1.0;
constexpr double kMinusOne = -1.0;
constexpr double kMinusHalf = -0.5;
constexpr double kZero = 0.0;

}  // namespace

// For each panel P of b columns below the band, m x b: P = Q R with Q = I - V S V^T, and the
// remaining part of A, m x m, becomes Q^T A Q = A - V W^T - W V^T with W = X - 1/2 V (S^T V^T X), X
// = A V S.
BandReduction reduce_to_band(Eigen::MatrixXd& a, const ProgressCallback& progress) {
  constexpr lapack_int b = 64;
  const lapack_int n = to_lapack(a.rows());
  BandReduction r{b, Eigen::MatrixXd::Zero(b + 1, n), Eigen::VectorXd::Zero(n - b)};
  const auto keep_column = [&](lapack_int j) {
    const lapack_int size = std::min(b, n - 1 - j) + 1;
    r.band.col(j).head(size) = a.col(j).segment(j, size);
  };
  Eigen::MatrixXd s = Eigen::MatrixXd::Zero(b, b);  // its lower triangle stays zero
  Eigen::MatrixXd vs(n, b);
  Eigen::MatrixXd w(n, b);
  Eigen::MatrixXd inner(b, b);
  const bool is_band = n <= b + 1;  // already
  for (lapack_int first = 0; !is_band && first < n - b; first += b) {
    const lapack_int m = n - first - b;
    const lapack_int k = std::min(m, b);
    double* const v = &a(first + b, first);
    double* const rest = &a(first + b, first + b);
    run_with_workspace("dgeqrf", [&](double* work, lapack_int size) {
      return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, b, v, n, r.tau.data() + first, work, size);
    });
    for (lapack_int j = first; j < first + k; ++j) keep_column(j);
    for (lapack_int j = 0; j < k; ++j) {
      for (lapack_int i = 0; i < j; ++i) v[i + static_cast<Eigen::Index>(j) * n] = 0.0;
      v[j + static_cast<Eigen::Index>(j) * n] = 1.0;
    }
    succeeded("dlarft",
              LAPACKE_dlarft_work(
                  LAPACK_COL_MAJOR, 'F', 'C', m, k, v, n, r.tau.data() + first, s.data(), b));
    dgemm_("N", "N", &m, &k, &k, &kOne, v, &n, s.data(), &b, &kZero, vs.data(), &n);
    dsymm_("L", "L", &m, &k, &kOne, rest, &n, vs.data(), &n, &kZero, w.data(), &n);
    const double after = static_cast<double>(m) / static_cast<double>(n);
    const double before = std::min(1.0, after + static_cast<double>(b) / static_cast<double>(n));
    const auto done = [](double left) { return 1.0 - left * left * left; };
    report(progress, 0.5 * (done(before) + done(after)));
    dgemm_("C", "N", &k, &k, &m, &kOne, vs.data(), &n, w.data(), &n, &kZero, inner.data(), &b);
    dgemm_("N", "N", &m, &k, &k, &kMinusHalf, v, &n, inner.data(), &b, &kOne, w.data(), &n);
    dsyr2k_("L", "N", &m, &k, &kMinusOne, v, &n, w.data(), &n, &kOne, rest, &n);
    report(progress, done(after));
  }
  for (lapack_int j = is_band ? 0 : n - b; j < n; ++j) keep_column(j);
  return r;
}

// Sweep s reduces column s of the band to tridiagonal form and chases the resulting bulge down the
// matrix, b rows with every two steps. A sweep may follow its predecessor at a distance of three
// steps: a wave advances every open sweep by three steps and opens one.
Tridiagonal tridiagonalize(const BandReduction& reduction, const ProgressCallback& progress) {
  const lapack_int n = to_lapack(reduction.band.cols());
  const lapack_int b = to_lapack(reduction.bandwidth);
  const lapack_int leading = 2 * b + 1;
  constexpr lapack_int kStepsOfWave = 3;
  // The band with space for the bulges below.
  Eigen::MatrixXd band = Eigen::MatrixXd::Zero(leading, n);
  band.topRows(b + 1) = reduction.band;
  // Reflectors of two sweeps, and their scales; not needed afterwards.
  std::vector<double> v(2 * static_cast<std::size_t>(n));
  std::vector<double> tau(v.size());
  std::vector<double> work(static_cast<std::size_t>(b));
  const lapack_int no = 0;
  lapack_int first_open = 1;  // sweeps and rows count from 1
  for (lapack_int wave = 1; wave < n && first_open <= wave; ++wave) {
    for (lapack_int m = 1; m <= kStepsOfWave; ++m) {
      for (lapack_int sweep = first_open; sweep <= wave; ++sweep) {
        const lapack_int step = (wave - sweep) * kStepsOfWave + m;
        const lapack_int type = step == 1 ? 1 : step % 2 + 2;
        const lapack_int end = (step + 1) / 2 * b + sweep;  // for even steps step / 2, the same
        const lapack_int first = end - b + 1;
        const lapack_int last = std::min(end, n);
        dsb2st_kernels_("L",
                        &no,
                        &type,
                        &first,
                        &last,
                        &sweep,
                        &n,
                        &b,
                        &b,
                        band.data(),
                        &leading,
                        v.data(),
                        tau.data(),
                        &leading,
                        work.data(),
                        1);
        const bool is_at_end = type == 2 ? end >= n - 1 : first >= last - 1 && last == n;
        if (is_at_end) ++first_open;
      }
    }
    const double left = static_cast<double>(n - first_open) / static_cast<double>(n);
    report(progress, 1.0 - left * left);
  }
  return {band.row(0).transpose(), band.row(1).head(n - 1).transpose()};
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
  // A pivot lost to rounding may be replaced by one of the size of rounding errors.
  const double largest = reduction.band.cwiseAbs().maxCoeff();
  const double smallest = kEpsilon * (largest > 0.0 ? largest : 1.0);
  for (Eigen::Index j = 0; j < n; ++j) {
    double& pivot = factors(2 * b, j);
    if (std::abs(pivot) < smallest) pivot = std::copysign(smallest, pivot);
  }
  // A start vector that is unlikely to be orthogonal to an eigenvector.
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
