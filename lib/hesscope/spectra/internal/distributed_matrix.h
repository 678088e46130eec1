// SPDX-License-Identifier: BSD-3-Clause
//
// The operations on a symmetric matrix H distributed over several processes that a solver must
// provide: the interface between the spectra here and a library for such matrices.
#pragma once

#include <cstdint>
#include <functional>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/core/progress.h>
#include <hesscope/linalg/internal/lapack.h>

namespace hesscope::detail {

/// n x n, initially zero. All ranks make the same calls and get the same results, including
/// complete vectors; an exception on one rank is thrown on all. T = Q^T H Q is tridiagonal.
class DistributedMatrix {
 public:
  /// Columns [first, first + width) from row `first` on. Entries above the diagonal are arbitrary.
  using Columns = std::function<Eigen::MatrixXd(Eigen::Index first, Eigen::Index width)>;

  /// What must be known before H is processed.
  struct Content {
    bool is_finite = true;
    double largest_magnitude = 0.0;
    std::int64_t num_dead = 0;  ///< rows that are identically zero
    Eigen::VectorXd diagonal;
  };

  /// How far the columns of Q are from being eigenvectors for all eigenvalues Lambda.
  struct VectorErrors {
    double residual = kNaN;       ///< ||H Q - Q Lambda||_F
    double orthogonality = kNaN;  ///< ||Q^T Q - I||_F
  };

  virtual ~DistributedMatrix() = default;

  /// Fills H; each rank computes columns of its own, where `first` is a multiple of the group of
  /// Objective::hessian_columns(). Progress is that of the first rank.
  virtual void fill(const Columns& columns, const ProgressCallback& progress) = 0;

  virtual Content content() const = 0;

  /// Replaces H by 2^-exponent H.
  virtual void scale(int exponent) = 0;

  virtual double frobenius_norm() const = 0;

  /// T, and the data that apply_q() needs; H is kept.
  virtual Tridiagonal tridiagonalize() = 0;

  /// Q V for V of size n x k; valid until the next is_positive_definite().
  virtual Eigen::MatrixXd apply_q(const Eigen::MatrixXd& v) = 0;

  /// For all eigenvectors of T, transformed back by Q, and the given eigenvalues, ascending; NaN if
  /// no vectors were found. Must be the last operation on T: apply_q() is invalid afterwards. Only
  /// if matrix() was called with vectors.
  virtual VectorErrors vector_errors(const Eigen::VectorXd& values) = 0;

  /// H V for V of size n x k.
  virtual Eigen::MatrixXd times(const Eigen::MatrixXd& v) const = 0;

  /// Whether sign (H - shift I) has a Cholesky factor.
  virtual bool is_positive_definite(double sign, double shift) = 0;
};

}  // namespace hesscope::detail
