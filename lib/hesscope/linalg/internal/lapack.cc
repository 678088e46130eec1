// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <hesscope/linalg/internal/blas_call.h>
#include <hesscope/linalg/internal/lapack.h>

namespace hesscope::detail {

Eigen::Index max_lapack_dimension() {
  // Workspaces are n times a block size; no block size of ilaenv is above 64.
  return static_cast<Eigen::Index>(std::numeric_limits<lapack_int>::max() / 64);
}

std::optional<Eigen::VectorXd> eigenvalues(Tridiagonal t) {
  const lapack_int n = to_lapack(t.diagonal.size());
  const lapack_int info = LAPACKE_dsterf_work(n, t.diagonal.data(), t.off_diagonal.data());
  if (!succeeded("dsterf", info)) return std::nullopt;
  return std::move(t.diagonal);
}

namespace {

// Eigenvalues by bisection, in the order required by dstein, and the blocks into which T splits.
struct Bisection {
  std::vector<double> values;
  std::vector<lapack_int> block_of_value;
  std::vector<lapack_int> block_ends;
};

// All of them, or the one of this rank. None if dstebz fails: asked for a single eigenvalue of a
// cluster, it may return none or several; asked for all, it is reliable.
std::optional<Bisection> bisect(const Tridiagonal& t, std::optional<Eigen::Index> rank) {
  const lapack_int n = to_lapack(t.diagonal.size());
  const auto length = static_cast<std::size_t>(n);
  const lapack_int index = rank ? to_lapack(*rank) + 1 : 0;
  // dstebz documents twice the smallest safe number as the tolerance of its most accurate answer.
  const double tolerance = 2.0 * std::numeric_limits<double>::min();
  lapack_int num_found = 0;
  lapack_int num_blocks = 0;
  Bisection found{std::vector<double>(length),
                  std::vector<lapack_int>(length),
                  std::vector<lapack_int>(length)};
  std::vector<double> work(4 * length);
  std::vector<lapack_int> integer_work(3 * length);
  // Order by block ('B'), as dstein requires.
  const lapack_int info = LAPACKE_dstebz_work(rank ? 'I' : 'A',
                                              'B',
                                              n,
                                              0.0,
                                              0.0,
                                              index,
                                              index,
                                              tolerance,
                                              t.diagonal.data(),
                                              t.off_diagonal.data(),
                                              &num_found,
                                              &num_blocks,
                                              found.values.data(),
                                              found.block_of_value.data(),
                                              found.block_ends.data(),
                                              work.data(),
                                              integer_work.data());
  if (!succeeded("dstebz", info) || num_found != (rank ? 1 : n)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<Eigen::VectorXd> eigenvector(const Tridiagonal& t, Eigen::Index rank) {
  std::optional<Bisection> found = bisect(t, rank);
  if (!found) {
    found = bisect(t, std::nullopt);
    if (!found) return std::nullopt;
    // Moves the value of this rank, and the block to which it belongs, to the front.
    std::vector<std::size_t> order(found->values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto wanted = order.begin() + rank;
    std::nth_element(order.begin(), wanted, order.end(), [&](std::size_t i, std::size_t k) {
      return found->values[i] < found->values[k];
    });
    found->values[0] = found->values[*wanted];
    found->block_of_value[0] = found->block_of_value[*wanted];
  }
  const lapack_int n = to_lapack(t.diagonal.size());
  const auto length = static_cast<std::size_t>(n);
  std::vector<double> work(5 * length);
  std::vector<lapack_int> integer_work(length);
  Eigen::VectorXd vector(n);
  lapack_int failed = 0;
  const lapack_int iteration = LAPACKE_dstein_work(LAPACK_COL_MAJOR,
                                                   n,
                                                   t.diagonal.data(),
                                                   t.off_diagonal.data(),
                                                   1,
                                                   found->values.data(),
                                                   found->block_of_value.data(),
                                                   found->block_ends.data(),
                                                   vector.data(),
                                                   n,
                                                   work.data(),
                                                   integer_work.data(),
                                                   &failed);
  if (!succeeded("dstein", iteration)) return std::nullopt;
  return vector;
}

Eigen::VectorXd apply_q(Eigen::MatrixXd& reduced, const Eigen::VectorXd& tau, Eigen::VectorXd v) {
  const lapack_int n = to_lapack(reduced.rows());
  run_with_workspace("dormtr", [&](double* work, lapack_int size) {
    return LAPACKE_dormtr_work(LAPACK_COL_MAJOR,
                               'L',
                               'L',
                               'N',
                               n,
                               1,
                               reduced.data(),
                               n,
                               tau.data(),
                               v.data(),
                               n,
                               work,
                               size);
  });
  return v;
}

std::optional<EigenDecomposition> eigensystem(Eigen::MatrixXd a) {
  const lapack_int n = to_lapack(a.rows());
  Eigen::VectorXd values(n);
  const lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, a.data(), n, values.data());
  if (!succeeded("dsyevd", info)) return std::nullopt;
  return EigenDecomposition{std::move(values), std::move(a)};
}

std::optional<EigenDecomposition> eigensystem(Tridiagonal t) {
  const lapack_int n = to_lapack(t.diagonal.size());
  EigenDecomposition result{{}, Eigen::MatrixXd(n, n)};
  std::vector<lapack_int> integer_work(static_cast<std::size_t>(5 * n + 3));
  lapack_int info = 0;
  run_with_workspace("dstedc", [&](double* work, lapack_int size) {
    info = LAPACKE_dstedc_work(LAPACK_COL_MAJOR,
                               'I',
                               n,
                               t.diagonal.data(),
                               t.off_diagonal.data(),
                               result.vectors.data(),
                               n,
                               work,
                               size,
                               integer_work.data(),
                               to_lapack(static_cast<Eigen::Index>(integer_work.size())));
    return std::min(info, lapack_int{0});
  });
  if (info > 0) return std::nullopt;
  result.values = std::move(t.diagonal);
  return result;
}

Eigen::Index max_eigensystem_dimension() {
  // n^2 + 4 n + 1 = (n + 2)^2 - 3
  return static_cast<Eigen::Index>(
             std::sqrt(static_cast<double>(std::numeric_limits<lapack_int>::max()))) -
         2;
}

std::optional<Eigen::VectorXd> solve_positive_definite(Eigen::MatrixXd a, Eigen::VectorXd b) {
  const lapack_int n = to_lapack(a.rows());
  const lapack_int ld = std::max(n, lapack_int{1});
  const lapack_int info = LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, 1, a.data(), ld, b.data(), ld);
  if (!succeeded("dposv", info)) return std::nullopt;
  return b;
}

Eigen::Index max_svd_rank() {
  // 4 k^2 + 7 k = 4 (k + 7/8)^2 - 49/16
  return static_cast<Eigen::Index>(
             std::sqrt(static_cast<double>(std::numeric_limits<lapack_int>::max()) / 4)) -
         1;
}

std::optional<Eigen::VectorXd> singular_values(Eigen::MatrixXd a) {
  const lapack_int m = to_lapack(a.rows());
  const lapack_int n = to_lapack(a.cols());
  Eigen::VectorXd values(std::min(m, n));
  const lapack_int info = LAPACKE_dgesdd(
      LAPACK_COL_MAJOR, 'N', m, n, a.data(), m, values.data(), nullptr, 1, nullptr, 1);
  if (!succeeded("dgesdd", info)) return std::nullopt;
  return values;
}

std::optional<ThinSvd> thin_svd(Eigen::MatrixXd a) {
  const lapack_int m = to_lapack(a.rows());
  const lapack_int n = to_lapack(a.cols());
  const lapack_int k = std::min(m, n);
  ThinSvd result{Eigen::VectorXd(k), Eigen::MatrixXd(m, k), Eigen::MatrixXd(k, n)};
  const lapack_int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR,
                                         'S',
                                         m,
                                         n,
                                         a.data(),
                                         m,
                                         result.values.data(),
                                         result.left.data(),
                                         m,
                                         result.right_transposed.data(),
                                         k);
  if (!succeeded("dgesdd", info)) return std::nullopt;
  return result;
}

PivotedQr pivoted_qr(Eigen::MatrixXd a) {
  const lapack_int m = to_lapack(a.rows());
  const lapack_int n = to_lapack(a.cols());
  PivotedQr qr{std::move(a), Eigen::VectorXd(std::min(m, n)), {}};
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n), 0);  // 0: free to move
  run_with_workspace("dgeqp3", [&](double* work, lapack_int size) {
    return LAPACKE_dgeqp3_work(
        LAPACK_COL_MAJOR, m, n, qr.factors.data(), m, pivots.data(), qr.tau.data(), work, size);
  });
  for (const lapack_int pivot : pivots) qr.order.push_back(pivot - 1);
  return qr;
}

Eigen::MatrixXd apply_q(PivotedQr& qr, Eigen::Index r, Eigen::MatrixXd x) {
  if (x.cols() == 0) return x;
  const lapack_int m = to_lapack(x.rows());
  run_with_workspace("dormqr", [&](double* work, lapack_int size) {
    return LAPACKE_dormqr_work(LAPACK_COL_MAJOR,
                               'L',
                               'N',
                               m,
                               to_lapack(x.cols()),
                               to_lapack(r),
                               qr.factors.data(),
                               m,
                               qr.tau.data(),
                               x.data(),
                               m,
                               work,
                               size);
  });
  return x;
}

namespace {

Eigen::MatrixXd with_inverse(const char* side,
                             const Eigen::Ref<const Eigen::MatrixXd>& r,
                             Eigen::MatrixXd b) {
  const lapack_int m = to_lapack(b.rows());
  const lapack_int n = to_lapack(b.cols());
  const lapack_int ldr = to_lapack(r.outerStride());
  const double one = 1.0;
  dtrsm_(side, "U", "N", "N", &m, &n, &one, r.data(), &ldr, b.data(), &m);
  return b;
}

}  // namespace

Eigen::MatrixXd solve_upper(const Eigen::Ref<const Eigen::MatrixXd>& r, Eigen::MatrixXd b) {
  return with_inverse("L", r, std::move(b));
}

Eigen::MatrixXd divide_by_upper(Eigen::MatrixXd b, const Eigen::Ref<const Eigen::MatrixXd>& r) {
  return with_inverse("R", r, std::move(b));
}

Eigen::VectorXd solve(const Ldlt& ldlt, const Eigen::Ref<const Eigen::VectorXd>& b) {
  const lapack_int n = to_lapack(b.size());
  const std::vector<lapack_int> pivots(ldlt.pivots.begin(), ldlt.pivots.end());
  Eigen::VectorXd x = b;
  succeeded("dsytrs",
            LAPACKE_dsytrs_work(
                LAPACK_COL_MAJOR, 'L', n, 1, ldlt.factors.data(), n, pivots.data(), x.data(), n));
  return x;
}

Eigen::MatrixXd symmetric_times(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                const Eigen::Ref<const Eigen::MatrixXd>& v) {
  const lapack_int n = to_lapack(a.rows());
  const lapack_int lda = to_lapack(a.outerStride());
  const double one = 1.0;
  const double zero = 0.0;
  Eigen::MatrixXd product(v.rows(), v.cols());
  if (v.cols() == 1) {
    const lapack_int step = 1;
    dsymv_("L", &n, &one, a.data(), &lda, v.data(), &step, &zero, product.data(), &step);
  } else {
    const lapack_int num_columns = to_lapack(v.cols());
    const lapack_int ldv = to_lapack(v.outerStride());
    dsymm_("L",
           "L",
           &n,
           &num_columns,
           &one,
           a.data(),
           &lda,
           v.data(),
           &ldv,
           &zero,
           product.data(),
           &n);
  }
  return product;
}

}  // namespace hesscope::detail
