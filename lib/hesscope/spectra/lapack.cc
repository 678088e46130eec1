// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lapacke.h>

#include <hesscope/spectra/lapack.h>

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
// Declared here because the cblas.h on the include path may be another BLAS's.
extern "C" {
int openblas_get_num_threads(void);
void openblas_set_num_threads(int num_threads);
}
#endif

namespace hesscope::detail {
namespace {

lapack_int to_lapack(Eigen::Index n) { return static_cast<lapack_int>(n); }

// A negative info is an argument LAPACK refuses, which only a mistake in this file can cause; a
// positive one is the routine's own report of numerical failure.
bool succeeded(const char* routine, lapack_int info) {
  if (info < 0) {
    throw std::logic_error(std::string("LAPACK ") + routine + " refuses its argument " +
                           std::to_string(-info));
  }
  return info == 0;
}

// Runs a routine twice: asked for its best workspace size (lwork = -1), then with that workspace.
template <typename Routine>
void run_with_workspace(const char* name, const Routine& routine) {
  double best_size = 0.0;
  succeeded(name, routine(&best_size, lapack_int{-1}));
  std::vector<double> work(static_cast<std::size_t>(best_size));
  succeeded(name, routine(work.data(), static_cast<lapack_int>(work.size())));
}

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
struct ThreadSetting {
  std::mutex mutex;
  int num_holders = 0;
  int threads_before = 0;  // meaningful while num_holders > 0
};

ThreadSetting& thread_setting() {
  static ThreadSetting setting;
  return setting;
}
#endif

}  // namespace

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
SingleThreadedBlas::SingleThreadedBlas() {
  ThreadSetting& setting = thread_setting();
  const std::lock_guard lock(setting.mutex);
  if (setting.num_holders++ == 0) {
    setting.threads_before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
}

SingleThreadedBlas::~SingleThreadedBlas() {
  ThreadSetting& setting = thread_setting();
  const std::lock_guard lock(setting.mutex);
  if (--setting.num_holders == 0) openblas_set_num_threads(setting.threads_before);
}
#else
SingleThreadedBlas::SingleThreadedBlas() = default;

SingleThreadedBlas::~SingleThreadedBlas() = default;
#endif

Eigen::Index max_lapack_dimension() {
  // Workspaces are n times a block size; no block size of ilaenv is above 64.
  return static_cast<Eigen::Index>(std::numeric_limits<lapack_int>::max() / 64);
}

Reduction tridiagonalize(Eigen::MatrixXd& a) {
  const lapack_int n = to_lapack(a.rows());
  Reduction r{{Eigen::VectorXd(n), Eigen::VectorXd(n - 1)}, Eigen::VectorXd(n - 1)};
  run_with_workspace("dsytrd", [&](double* work, lapack_int size) {
    return LAPACKE_dsytrd_work(LAPACK_COL_MAJOR,
                               'L',
                               n,
                               a.data(),
                               n,
                               r.t.diagonal.data(),
                               r.t.off_diagonal.data(),
                               r.tau.data(),
                               work,
                               size);
  });
  return r;
}

std::optional<Eigen::VectorXd> eigenvalues(Tridiagonal t) {
  const lapack_int n = to_lapack(t.diagonal.size());
  const lapack_int info = LAPACKE_dsterf_work(n, t.diagonal.data(), t.off_diagonal.data());
  if (!succeeded("dsterf", info)) return std::nullopt;
  return std::move(t.diagonal);
}

std::optional<Eigen::VectorXd> eigenvector(const Tridiagonal& t, Eigen::Index rank) {
  const lapack_int n = to_lapack(t.diagonal.size());
  const lapack_int index = to_lapack(rank) + 1;
  const auto length = static_cast<std::size_t>(n);
  // dstebz documents twice the smallest safe number as the tolerance of its most accurate answer.
  const double tolerance = 2.0 * std::numeric_limits<double>::min();
  lapack_int num_found = 0;
  lapack_int num_blocks = 0;
  Eigen::VectorXd values(n);
  std::vector<lapack_int> block_of_value(length);
  std::vector<lapack_int> block_ends(length);
  std::vector<double> work(5 * length);
  std::vector<lapack_int> integer_work(3 * length);
  // Range by index; order by block ('B'), as dstein requires.
  const lapack_int bisection = LAPACKE_dstebz_work('I',
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
                                                   values.data(),
                                                   block_of_value.data(),
                                                   block_ends.data(),
                                                   work.data(),
                                                   integer_work.data());
  if (!succeeded("dstebz", bisection) || num_found != 1) return std::nullopt;
  Eigen::VectorXd vector(n);
  lapack_int failed = 0;
  const lapack_int iteration = LAPACKE_dstein_work(LAPACK_COL_MAJOR,
                                                   n,
                                                   t.diagonal.data(),
                                                   t.off_diagonal.data(),
                                                   num_found,
                                                   values.data(),
                                                   block_of_value.data(),
                                                   block_ends.data(),
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

}  // namespace hesscope::detail
