// SPDX-License-Identifier: BSD-3-Clause
//
// What a solver must be able to do with a symmetric matrix H whose entries lie on several
// processes: the seam between the spectra here and a library for such matrices.
#pragma once

#include <cstdint>
#include <functional>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/core/progress.h>
#include <hesscope/linalg/internal/lapack.h>

namespace hesscope::detail {

/// n x n, zero at first. All ranks make the same calls and get the same answers, vectors in full;
/// what one rank throws, all throw. T = Q^T H Q is tridiagonal.
class DistributedMatrix {
 public:
  /// Columns [first, first + width) from row `first` on. Above the diagonal anything may stand.
  using Columns = std::function<Eigen::MatrixXd(Eigen::Index first, Eigen::Index width)>;

  /// What is to be known before H is worked on.
  struct Content {
    bool is_finite = true;
    double largest_magnitude = 0.0;
    std::int64_t num_dead = 0;  ///< rows that are identically zero
    Eigen::VectorXd diagonal;
  };

  /// How far the columns of Q are from being eigenvectors of all eigenvalues Lambda.
  struct VectorErrors {
    double residual = kNaN;       ///< ||H Q - Q Lambda||_F
    double orthogonality = kNaN;  ///< ||Q^T Q - I||_F
  };

  virtual ~DistributedMatrix() = default;

  /// Fills H, each rank by columns of its own, `first` a multiple of the group of
  /// Objective::hessian_columns(). Progress is the first rank's.
  virtual void fill(const Columns& columns, const ProgressCallback& progress) = 0;

  virtual Content content() const = 0;

  /// H becomes 2^-exponent H.
  virtual void scale(int exponent) = 0;

  virtual double frobenius_norm() const = 0;

  /// T, and what apply_q() needs; H is kept.
  virtual Tridiagonal tridiagonalize() = 0;

  /// Q V for n x k, until the next is_positive_definite().
  virtual Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) = 0;

  /// Of all eigenvectors of T, taken back by Q, and the eigenvalues given, ascending; NaN where no
  /// vectors were found. The last that is asked of T: apply_q() has no meaning after it. Only where
  /// matrix() has been asked for vectors.
  virtual VectorErrors vector_errors(const Eigen::VectorXd& values) = 0;

  /// H V for n x k.
  virtual Eigen::MatrixXd times(const Eigen::MatrixXd& v) const = 0;

  /// Whether sign (H - shift I) has a Cholesky factor.
  virtual bool is_positive_definite(double sign, double shift) = 0;
};

}  // namespace hesscope::detail
