// SPDX-License-Identifier: BSD-3-Clause
//
// The largest value of a quadratic form on the unit ball of a norm,
//   S = max d^T H d   over ||d|| <= 1:
// For gradient descent, whose norm is the Euclidean one, S is the largest eigenvalue; for descent
// in another norm, S plays its role. The norm is the largest |entry| for sign descent, the largest
// of the blocks' norms for descent normalised block by block, and the largest of the matrices'
// spectral norms for Muon. 0 is in the ball, so S >= 0.
//
// Finding S is NP-hard except for the Euclidean norm; here it is bounded from both sides:
//   lower   attained: d^T H d of a direction that is returned, found by ascent from many starts;
//   upper   proved: if Y - H is positive semidefinite, d^T H d <= d^T Y d; and if Y >= 0 has the
//           structure of the ball (diagonal; a multiple of I for each block; I x Y_b for each
//           matrix), d^T Y d <= tr Y on it. Y comes from the semidefinite relaxation, in which d
//           has several columns; that Y - H is semidefinite is shown by an eigenvalue from a full
//           decomposition, including its rounding error.
// For the norm of the entries, branch and bound over signs closes the gap if n is small or H has
// few large eigenvalues. For the other balls, the gap closes only if the relaxation is tight: with
// one block, for a matrix of rank one, or with blocks that H does not couple.
//
//   const BallMaximum s = maximum_on_cube(h);
//   if (s.is_closed) ...                     // s.lower is the maximum, to rounding
//   s.direction                              // the signs that attain it
#pragma once

#include <cstdint>
#include <span>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>

namespace hesscope {

struct BallMaximum {
  Status status = Status::kNotComputed;
  double lower = kNaN;        ///< direction^T H direction; at least 0
  double upper = kNaN;        ///< no d in the ball has more
  Eigen::VectorXd direction;  ///< n entries, in the ball; empty without kOk
  /// The largest upper - lower that rounding alone can cause.
  double rounding = kNaN;
  bool is_closed = false;  ///< upper - lower is at most `rounding`: `lower` is the maximum
  /// Subproblems of branch and bound; 0 if none were needed, or allowed.
  std::int64_t num_subproblems = 0;
};

struct BallMaximumOptions {
  std::int64_t num_starts = 16;  ///< >= 1: random roundings of the relaxation that ascend
  /// For branch and bound on the cube; 0: none.
  std::int64_t max_subproblems = 1000;
  std::uint64_t seed = 0;  ///< for the starts
};

/// With more rows than this, there is no branch and bound: each subproblem decomposes a matrix.
inline constexpr Eigen::Index kLargestBranched = 256;

/// On max |d_i| <= 1. If a diagonal entry is not negative, d_i is -1 or 1; if it is negative, d_i
/// may lie in between, and branch and bound has a third branch for (H d)_i = 0.
/// @param  hessian  n x n, n >= 1; symmetric as required by dense_spectrum().
/// @return status kOk; kNonFinite if the matrix has a NaN or an infinity, or the maximum is beyond
///         the range of double; kFailed if an eigenvalue was not found. Without kOk, nothing else
///         is set.
/// @throws PreconditionError if the matrix is not square, is empty or not symmetric, or an option
///         is out of its range. Interrupted if the callback asks to stop.
/// @cost   relaxation: about 100 to 2,000 sweeps of 2 r n^2 operations with r = min(24, sqrt(2 n)),
///         two decompositions of n x n matrices without vectors, and starts of about ten sweeps
///         with r = 1. A subproblem: one such decomposition and 16 to 128 sweeps. Three n x n
///         matrices.
/// @source M. X. Goemans & D. P. Williamson (1995), J. ACM 42, 1115-1145, and Y. Nesterov (1998),
/// Optim. Methods Softw. 9, 141-160, for the relaxation; P.-W. Wang & J. Z. Kolter (2017), arXiv
/// 1706.00476, for its coordinate ascent; F. Rendl, G. Rinaldi & A. Wiegele (2010), Math. Program.
/// 121, 307-335, for branch and bound with it; L. Balles, F. Pedregosa & N. Le Roux (2020), arXiv
/// 2002.08056, for its meaning in sign descent.
BallMaximum maximum_on_cube(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                            const BallMaximumOptions& options = {},
                            const ProgressCallback& progress = {});

/// On max_b |d_b| <= 1 over blocks, with Euclidean norms.
/// @param  blocks  n entries in total, as required by require_blocks().
/// @throws PreconditionError also if they are not.
/// @cost   as above without subproblems, and the decomposition of every diagonal block.
BallMaximum maximum_on_block_balls(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                   std::span<const ParameterBlock> blocks,
                                   const BallMaximumOptions& options = {},
                                   const ProgressCallback& progress = {});

/// On max_b ||D_b||_2 <= 1 over blocks, with spectral norms: D_b is the block as a matrix of its
/// first dimension by all others. Vectors and numbers are columns, whose spectral norm is the
/// Euclidean norm.
/// @throws PreconditionError as maximum_on_block_balls().
/// @cost   the same, and for each sweep the singular values of every matrix.
/// @source J. Bernstein & L. Newhouse (2024), Old optimizer, new norm, arXiv 2409.20325.
BallMaximum maximum_on_spectral_balls(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                      std::span<const ParameterBlock> blocks,
                                      const BallMaximumOptions& options = {},
                                      const ProgressCallback& progress = {});

/// The direction in the ball with the largest inner product with g: signs; each block divided by
/// its norm; the orthogonal factor U V^T of each matrix U S V^T. It is zero where g is zero.
Eigen::VectorXd steepest_on_cube(const Eigen::Ref<const Eigen::VectorXd>& g);

/// The same. @param blocks of g.size() entries. @throws PreconditionError if they do not tile them.
Eigen::VectorXd steepest_on_block_balls(const Eigen::Ref<const Eigen::VectorXd>& g,
                                        std::span<const ParameterBlock> blocks);

/// The same; of singular values that are zero, too: at most r eps times the largest of r.
Eigen::VectorXd steepest_on_spectral_balls(const Eigen::Ref<const Eigen::VectorXd>& g,
                                           std::span<const ParameterBlock> blocks);

/// The same, with a bound for each block up to which its singular values are rounding, too.
/// @throws PreconditionError also if there is not one for each block.
Eigen::VectorXd steepest_on_spectral_balls(const Eigen::Ref<const Eigen::VectorXd>& g,
                                           std::span<const ParameterBlock> blocks,
                                           const Eigen::Ref<const Eigen::VectorXd>& rounding);

}  // namespace hesscope
