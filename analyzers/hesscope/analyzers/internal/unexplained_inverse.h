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
/// eigenvalues that are rounding.
class UnexplainedInverse {
 public:
  /// @param hessian  with status kOk; must outlive this.
  /// @cost all eigenpairs of A, n x n.
  explicit UnexplainedInverse(const UnexplainedHessian& hessian,
                              const ProgressCallback& progress = {});

  /// That of the eigensystem; without kOk nothing below may be used.
  Status status() const { return system_.status; }

  /// Eigenvalues of A within its rounding band of zero: zeros of H that nothing explains.
  Eigen::Index num_zero() const { return num_zero_; }

  /// Eigenvalues of A below its rounding band: the negative ones of H.
  Eigen::Index num_negative() const { return num_negative_; }

  /// H^+ B. @param b  n x k. @cost 2 n^2 k multiply-adds and two projections.
  Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& b) const;

 private:
  const UnexplainedHessian* hessian_;
  Eigensystem system_;
  Eigen::Index num_zero_ = -1;
  Eigen::Index num_negative_ = -1;
};

struct NewtonStep {
  Status status = Status::kNotComputed;
  Eigen::VectorXd change = {};  ///< n; empty without kOk
};

/// (H - h_i / N)^+ g_i / N, h_i the Hessian of sample i of N: a Newton step, at a critical point, on
/// the loss of the others, on the same space as H^+.
/// @param hessian       that of all samples at theta, with status kOk.
/// @param num_negative  its negative eigenvalues, as UnexplainedInverse counts them.
/// @param gradient      g_i at theta, n.
/// @return  kUndefinedSingular where H - h_i / N is singular to rounding; kUndefinedOtherInertia where
///          it has another number of negative eigenvalues: the point is then of another kind without
///          the sample; kNonFinite.
/// @cost one Hessian of a sample and one factorization, n^3 / 3 multiply-adds.
/// @source D. Pregibon (1981), Annals of Statistics 9, 705-724.
NewtonStep newton_step_without_sample(const Objective& objective,
                                      const Eigen::VectorXd& theta,
                                      const UnexplainedHessian& hessian,
                                      Eigen::Index num_negative,
                                      Eigen::Index i,
                                      const Eigen::Ref<const Eigen::VectorXd>& gradient);

}  // namespace hesscope::detail
