// SPDX-License-Identifier: BSD-3-Clause
//
// Branch and bound for max d^T H d over max |d_i| <= 1.
//
// A subproblem fixes some entries: at -1, at 1, or "between", with (H d)_i = 0. Let s = d_F be the
// fixed signs, I the entries between, and R all others, of which those still free are between -1
// and 1. Then
//   d^T H d = d_R^T H_RR d_R - d_I^T H_II d_I,
// since the products of the rows I with d vanish: H_RI drops out, and the second part is at most
// sum |H_II|. The first is bounded by the semidefinite relaxation, in which the fixed signs are a
// single entry. At a leaf nothing is free: d_I = -H_II^-1 H_IF s.
//
// No maximum is lost: an entry with H_ii >= 0 need not be between, since the form is convex in it;
// and those between have H_II negative definite, or else d can move along a direction in which the
// form does not decrease until one of them reaches an end.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

struct CubeSearch {
  Eigen::VectorXd direction;  ///< the best known
  double lower = 0;           ///< its value
  double upper = 0;           ///< over all d
  /// A subproblem that can exceed `lower` by no more than this is discarded; afterwards, the
  /// largest upper - lower that rounding alone can cause.
  double rounding = 0;
  std::int64_t num_subproblems = 0;
};

/// @param h         n x n, symmetric.
/// @param relaxed   k x n: the maximum of the relaxation of the whole problem.
/// @param search    what is known before; num_subproblems is 0.
/// @param max_subproblems  the limit of the search; if it is reached, `upper` includes what is
///                         left.
/// @return `search` with the results; `upper` is NaN if an eigenvalue was not found.
CubeSearch search_cube(const Eigen::MatrixXd& h,
                       const Eigen::MatrixXd& relaxed,
                       CubeSearch search,
                       std::int64_t max_subproblems,
                       const ProgressCallback& progress);

}  // namespace hesscope::detail
