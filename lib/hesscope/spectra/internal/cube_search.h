// SPDX-License-Identifier: BSD-3-Clause
//
// Branch and bound for max d^T H d over max |d_i| <= 1.
//
// A subproblem fixes some entries: at -1, at 1, or "between", at (H d)_i = 0. With s the fixed
// signs, d_F, and R all but the entries between, I, an entry of R that is still free being between
// -1 and 1,
//   d^T H d = d_R^T H_RR d_R - d_I^T H_II d_I,
// since the products of the rows I with d vanish: H_RI drops out, and the second part is at most
// sum |H_II|. The first is bounded by the semidefinite relaxation, the fixed signs being one entry
// of it. At a leaf nothing is free: d_I = -H_II^-1 H_IF s.
//
// No maximum is lost: an entry with H_ii >= 0 need not be between, the form being convex in it;
// those between together have H_II negative definite, or d can move along a direction on which the
// form does not fall until one of them is at an end.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

struct CubeSearch {
  Eigen::VectorXd direction;  ///< the best that is known
  double lower = 0;           ///< its value
  double upper = 0;           ///< of all
  /// A subproblem with so little more than `lower` is done with; afterwards, what rounding alone
  /// makes of upper - lower, at most.
  double rounding = 0;
  std::int64_t num_subproblems = 0;
};

/// @param h         n x n, symmetric.
/// @param relaxed   k x n: the relaxation's maximum of the whole.
/// @param search    what is known before; with num_subproblems 0.
/// @param max_subproblems  where the search ends; then `upper` is that of what is left.
/// @return `search` with what was found; `upper` is NaN if an eigenvalue was not.
CubeSearch search_cube(const Eigen::MatrixXd& h,
                       const Eigen::MatrixXd& relaxed,
                       CubeSearch search,
                       std::int64_t max_subproblems,
                       const ProgressCallback& progress);

}  // namespace hesscope::detail
