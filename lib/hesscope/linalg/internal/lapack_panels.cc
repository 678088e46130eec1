// SPDX-License-Identifier: BSD-3-Clause
//
// LAPACK's panel-by-panel algorithms, using its own routines for a panel, so that long computations
// can report progress: the same operations in the same order as in dsytrd and dsytrf.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <hesscope/linalg/internal/blas_call.h>
#include <hesscope/linalg/internal/lapack.h>

// Missing in LAPACKE. They pass on their character arguments, so the lengths of these must be
// passed.
// NOLINTBEGIN(readability-identifier-naming): names of Fortran
extern "C" {
void dlatrd_(const char* uplo,
             const lapack_int* n,
             const lapack_int* nb,
             double* a,
             const lapack_int* lda,
             double* e,
             double* tau,
             double* w,
             const lapack_int* ldw,
             std::size_t uplo_length);
void dsytd2_(const char* uplo,
             const lapack_int* n,
             double* a,
             const lapack_int* lda,
             double* d,
             double* e,
             double* tau,
             lapack_int* info,
             std::size_t uplo_length);
void dlasyf_(const char* uplo,
             const lapack_int* n,
             const lapack_int* nb,
             lapack_int* kb,
             double* a,
             const lapack_int* lda,
             lapack_int* ipiv,
             double* w,
             const lapack_int* ldw,
             lapack_int* info,
             std::size_t uplo_length);
void dsytf2_(const char* uplo,
             const lapack_int* n,
             double* a,
             const lapack_int* lda,
             lapack_int* ipiv,
             lapack_int* info,
             std::size_t uplo_length);
}

// NOLINTEND(readability-identifier-naming)

namespace hesscope::detail {
namespace {

// The fraction of n^3 / 3, which is the sum over the rows of the square of the remaining size.
double fraction_done(lapack_int rows_left, lapack_int n) {
  const double left = static_cast<double>(rows_left) / static_cast<double>(n);
  return 1.0 - left * left * left;
}

}  // namespace

Reduction tridiagonalize(Eigen::MatrixXd& a, const ProgressCallback& progress) {
  constexpr lapack_int kPanel = 32;  // dsytrd's
  const lapack_int n = to_lapack(a.rows());
  Reduction r{{Eigen::VectorXd(n), Eigen::VectorXd(n - 1)}, Eigen::VectorXd(n - 1)};
  std::vector<double> work(static_cast<std::size_t>(n) * kPanel);
  const double minus_one = -1.0;
  const double one = 1.0;
  lapack_int first = 0;
  for (; n - first > kPanel; first += kPanel) {
    const lapack_int rows = n - first;
    const lapack_int rest = rows - kPanel;
    dlatrd_("L",
            &rows,
            &kPanel,
            &a(first, first),
            &n,
            r.t.off_diagonal.data() + first,
            r.tau.data() + first,
            work.data(),
            &n,
            1);
    dsyr2k_("L",
            "N",
            &rest,
            &kPanel,
            &minus_one,
            &a(first + kPanel, first),
            &n,
            work.data() + kPanel,
            &n,
            &one,
            &a(first + kPanel, first + kPanel),
            &n);
    for (lapack_int j = first; j < first + kPanel; ++j) {
      a(j + 1, j) = r.t.off_diagonal[j];
      r.t.diagonal[j] = a(j, j);
    }
    report(progress, fraction_done(rest, n));
  }
  const lapack_int rows = n - first;
  lapack_int info = 0;
  dsytd2_("L",
          &rows,
          &a(first, first),
          &n,
          r.t.diagonal.data() + first,
          r.t.off_diagonal.data() + first,
          r.tau.data() + first,
          &info,
          1);
  succeeded("dsytd2", info);
  return r;
}

Ldlt factor_ldlt(Eigen::MatrixXd a, const ProgressCallback& progress) {
  constexpr lapack_int kPanel = 64;  // dsytrf's
  const lapack_int n = to_lapack(a.rows());
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(n) * kPanel);
  Ldlt result;
  for (lapack_int first = 0, num_done = 0; first < n; first += num_done) {
    const lapack_int rows = n - first;
    lapack_int info = 0;
    if (rows > kPanel) {
      dlasyf_("L",
              &rows,
              &kPanel,
              &num_done,
              &a(first, first),
              &n,
              pivots.data() + first,
              work.data(),
              &n,
              &info,
              1);
    } else {
      dsytf2_("L", &rows, &a(first, first), &n, pivots.data() + first, &info, 1);
      num_done = rows;
    }
    // A zero block of D is not a failure: the factorisation is complete.
    result.is_singular = result.is_singular || info > 0;
    succeeded("dlasyf", std::min(info, lapack_int{0}));
    for (lapack_int j = first; j < first + num_done; ++j) {
      lapack_int& pivot = pivots[static_cast<std::size_t>(j)];
      pivot += pivot > 0 ? first : -first;
    }
    report(progress, fraction_done(rows - num_done, n));
  }
  result.factors = std::move(a);
  result.pivots.assign(pivots.begin(), pivots.end());
  return result;
}

}  // namespace hesscope::detail
