// SPDX-License-Identifier: BSD-3-Clause
//
// Solves with the Hessian on the orthogonal complement of its explained null space, and with the
// Hessian of all samples but one.
#pragma once

#include <Eigen/Core>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/eigensystem.h>

namespace hesscope::detail {

/// H^+ = P A^-1 P, with A and P of an UnexplainedHessian: the inverse of H on the range of P, 0 on
/// the explained null space. It exists if num_zero() is 0; otherwise times() divides by eigenvalues
/// that are rounding errors, or due to the distance from the critical point.
///
/// That distance is estimated by the Newton step
///   p = -(sum of v_k v_k^T / lambda_k over |lambda_k| > sqrt(eps) ||A||) P g,
/// and, where the gradient is small or only rounding and does not show the distance, by
///   q = -(sum of v_k sign(g_k) (|g_k| + eps ||A|| |theta|) / lambda_k), g_k = v_k^T P g,
/// over the smaller eigenvalues above ten rounding bands.
/// If the critical point has an eigenvalue of zero, the corresponding eigenvalue of A with the unit
/// eigenvector v is -v^T D v to first order in p, where D = P (H(theta + p) - H(theta)) P. So an
/// eigenvalue of magnitude at most 2 |v^T D v|, which the step changes by half of it or more,
/// cannot be told from zero. The same holds for one of the smaller eigenvalues if q changes it as
/// much, and for one that the rest of the way to a degenerate point changes as much, or half of
/// that: an estimate that is twice as long leads to the other side of the point.
class UnexplainedInverse {
 public:
  /// @param point    the point of `hessian`; it stands for a critical point nearby.
  /// @param hessian  with status kOk; must outlive this.
  /// @param rest     as CriticalPoint::rest, n or 0 entries.
  /// @cost all eigenpairs of A, up to two Hessians, two more with a rest, 4 n^3 multiply-adds; four
  ///       n x n matrices.
  UnexplainedInverse(PointAnalysis& point,
                     const UnexplainedHessian& hessian,
                     const ProgressCallback& progress = {},
                     const Eigen::VectorXd& rest = {});

  /// The status of the eigensystem; kNonFinite if H is not finite at one of these points. Without
  /// kOk, nothing below may be used.
  Status status() const { return status_; }

  /// The number of eigenvalues of A that cannot be told from zero: within its rounding band, or by
  /// the step.
  Eigen::Index num_zero() const { return num_zero_; }

  /// The largest of their magnitudes; 0 if there are none.
  double largest_zero() const { return largest_zero_; }

  /// The number of other negative eigenvalues of A.
  Eigen::Index num_negative() const { return num_negative_; }

  /// p, n.
  const Eigen::VectorXd& step() const { return step_; }

  /// D, n x n.
  const Eigen::MatrixXd& change() const { return change_; }

  /// H^+ B. @param b  n x k. @cost 2 n^2 k multiply-adds and two projections.
  Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& b) const;

 private:
  const UnexplainedHessian* hessian_;
  Eigensystem system_;
  Status status_ = Status::kNotComputed;
  Eigen::VectorXd step_;
  Eigen::MatrixXd change_;
  Eigen::Index num_zero_ = -1;
  Eigen::Index num_negative_ = -1;
  double largest_zero_ = 0;
};

struct NewtonStep {
  Status status = Status::kNotComputed;
  Eigen::VectorXd change = {};  ///< n; empty without kOk
};

/// (H - h_i / N)^+ g_i / N, where h_i is the Hessian of sample i of N: at a critical point, a
/// Newton step on the loss of the others, on the same space as H^+.
/// @param hessian   that of all samples at theta, with status kOk.
/// @param inverse   that of `hessian`.
/// @param gradient  g_i at theta, n.
/// @return  kUndefinedSingular if H - h_i / N is singular to rounding, or if inverse.step() changes
///          its curvature along the step by half of it or more, so that it cannot be told from
///          zero; kUndefinedOtherInertia if it has another number of negative eigenvalues than H:
///          without the sample, the point is then of another kind; kNonFinite.
/// @cost two Hessians of a sample and one factorization, n^3 / 3 multiply-adds.
/// @source D. Pregibon (1981), Annals of Statistics 9, 705-724.
NewtonStep newton_step_without_sample(const Objective& objective,
                                      const Eigen::VectorXd& theta,
                                      const UnexplainedHessian& hessian,
                                      const UnexplainedInverse& inverse,
                                      Eigen::Index i,
                                      const Eigen::Ref<const Eigen::VectorXd>& gradient);

}  // namespace hesscope::detail
