// SPDX-License-Identifier: BSD-3-Clause
//
// Approximate eigenpairs from a space of vectors (Rayleigh-Ritz).
//
// Notation: V n x q, orthonormal columns, with V^T H V = diag(theta). The theta are the eigenvalues
// of H restricted to the space of V; ||H v - theta v||_2 says how far each is from an eigenvalue of
// H.
#pragma once

#include <Eigen/Core>

#include <hesscope/core/status.h>
#include <hesscope/spectra/operators.h>

namespace hesscope::detail {

/// ||h_j - theta_j v_j||_2 for each column.
/// @param v          n x q.
/// @param h_times_v  H V, its columns h_j.
/// @param theta      q.
Eigen::VectorXd residual_norms(const Eigen::MatrixXd& v,
                               const Eigen::MatrixXd& h_times_v,
                               const Eigen::VectorXd& theta);

/// A growing space, with its V and theta.
class RitzSpace {
 public:
  /// Initially without vectors. `h` is not copied and must outlive this.
  explicit RitzSpace(const SymmetricOperator& h);

  /// Adds columns to V, except those that lie almost in its span, and restores V^T H V =
  /// diag(theta).
  /// @param columns  n x k.
  /// @return kOk; otherwise the pairs are unchanged: kNonFinite if a product is not finite, kFailed
  ///         if the small eigenproblem was not solved.
  /// @cost k columns applied in one call, and at most 7 n (q + k)^2 multiply-adds.
  Status add(const Eigen::MatrixXd& columns);

  /// theta, q of them, ascending.
  const Eigen::VectorXd& values() const { return theta_; }

  /// V, n x q.
  const Eigen::MatrixXd& vectors() const { return v_; }

  /// The residual of each pair, in the unit of H, from the products made by add(), without new
  /// ones.
  Eigen::VectorXd residuals() const { return residual_norms(v_, hv_, theta_); }

 private:
  const SymmetricOperator& h_;
  Eigen::MatrixXd v_;      // V
  Eigen::MatrixXd hv_;     // H V
  Eigen::VectorXd theta_;  // q
};

}  // namespace hesscope::detail
