// SPDX-License-Identifier: BSD-3-Clause
//
// How LAPACK is called. Private to the sources that call it: lapacke.h defines C complex macros
// that clash with C++.
#pragma once

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <lapacke.h>

namespace hesscope::detail {

inline lapack_int to_lapack(Eigen::Index n) { return static_cast<lapack_int>(n); }

// A negative info means that LAPACKE did not get memory, or that LAPACK refuses an argument, which
// only a mistake of the caller here can cause; a positive one is the routine's own report of
// numerical failure.
inline bool succeeded(const char* routine, lapack_int info) {
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) {
    throw std::bad_alloc();
  }
  if (info < 0) {
    throw std::logic_error(std::string("LAPACK ") + routine + " refuses its argument " +
                           std::to_string(-info));
  }
  return info == 0;
}

// Runs a routine twice: first to ask for its best workspace size (lwork = -1), then with that
// workspace.
template <typename Routine>
void run_with_workspace(const char* name, const Routine& routine) {
  double best_size = 0.0;
  succeeded(name, routine(&best_size, lapack_int{-1}));
  std::vector<double> work(static_cast<std::size_t>(best_size));
  succeeded(name, routine(work.data(), static_cast<lapack_int>(work.size())));
}

}  // namespace hesscope::detail
