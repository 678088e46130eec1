// SPDX-License-Identifier: BSD-3-Clause
//
// Solving with the Hessian on what is left of its explained null space, and with that of all
// samples but one.
#pragma once

#include <Eigen/Core>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/eigensystem.h>

namespace hesscope::detail {

/// H^+ = P A^-1 P, with A and P of an UnexplainedHessian: the inverse of H on the range of P, 0 on
/// the explained null space. It exists where num_zero() is 0; elsewhere times() divides by
/// eigenvalues that are rounding, or due to the distance from the critical point.
///
/// That distance is estimated by the Newton step
///   p = -(sum of v_k v_k^T / lambda_k over |lambda_k| > sqrt(eps) ||A||) P g,
/// and, where little gradient or none that is not rounding tells it, by
///   q = -(sum of v_k sign(g_k) (|g_k| + eps ||A|| |theta|) / lambda_k), g_k = v_k^T P g,
/// over the smaller ones above ten rounding bands.
/// Where the critical point has an eigenvalue of zero, that of A with the unit eigenvector v is
/// -v^T D v to first order in p, D = P (H(theta + p) - H(theta)) P: one of magnitude at most
/// 2 |v^T D v|, which the step changes by half of it or more, is not told from zero; neither is one
/// of the smaller ones that q changes as much, nor one that the rest of the way to a degenerate
/// point does, or half of that: an estimate which is twice as long leads to its other side.
class UnexplainedInverse {
 public:
  /// @param point    that of `hessian`; it stands for a critical point nearby.
  /// @param hessian  with status kOk; must outlive this.
  /// @param rest     as CriticalPoint::rest, n or 0 entries.
  /// @cost all eigenpairs of A, up to two Hessians and two with a rest, 4 n^3 multiply-adds; four
  ///       n x n matrices.
  UnexplainedInverse(PointAnalysis& point,
                     const UnexplainedHessian& hessian,
                     const ProgressCallback& progress = {},
                     const Eigen::VectorXd& rest = {});

  /// That of the eigensystem, kNonFinite where H is not finite at one of these points; without kOk
  /// nothing below may be used.
  Status status() const { return status_; }

  /// Eigenvalues of A that are not told from zero: within its rounding band, or by the step.
  Eigen::Index num_zero() const { return num_zero_; }

  /// The largest of their magnitudes; 0: there are none.
  double largest_zero() const { return largest_zero_; }

  /// The other negative eigenvalues of A.
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

/// (H - h_i / N)^+ g_i / N, h_i the Hessian of sample i of N: a Newton step, at a critical point,
/// on the loss of the others, on the same space as H^+.
/// @param hessian   that of all samples at theta, with status kOk.
/// @param inverse   of it.
/// @param gradient  g_i at theta, n.
/// @return  kUndefinedSingular where H - h_i / N is singular to rounding, or where its curvature
///          along the step is changed by half of it or more by inverse.step(), and so is not told
///          from zero; kUndefinedOtherInertia where it has another number of negative eigenvalues
///          than H: the point is then of another kind without the sample; kNonFinite.
/// @cost two Hessians of a sample and one factorization, n^3 / 3 multiply-adds.
/// @source D. Pregibon (1981), Annals of Statistics 9, 705-724.
NewtonStep newton_step_without_sample(const Objective& objective,
                                      const Eigen::VectorXd& theta,
                                      const UnexplainedHessian& hessian,
                                      const UnexplainedInverse& inverse,
                                      Eigen::Index i,
                                      const Eigen::Ref<const Eigen::VectorXd>& gradient);

}  // namespace hesscope::detail
