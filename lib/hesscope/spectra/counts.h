// SPDX-License-Identifier: BSD-3-Clause
//
// Counts how many eigenvalues of a symmetric matrix lie below a number, and from this computes
// eigenvalues of known rank. By Sylvester's law of inertia, H - shift I = M D M^T has as many
// negative eigenvalues as D, for any regular M; two independent ways to obtain D are offered and
// checked against each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

namespace detail {
struct Ldlt;
class SturmCounts;
class TridiagonalForm;
}  // namespace detail

/// Numbers of eigenvalues below, at and above a shift.
struct Inertia {
  std::int64_t num_below = -1;  ///< -1: not computed, as in all counts
  std::int64_t num_at = -1;
  std::int64_t num_above = -1;
};

/// H - shift I = P L D L^T P^T, by Bunch and Kaufman's diagonal pivoting (LAPACK's dsytrf).
///
/// The inertia is that of a matrix H + E; the largest observed ||E||_2 was below counting_band(n,
/// ||H||_2), so a count is valid for H itself unless an eigenvalue is nearer than that to the
/// shift.
/// @cost n^3 / 3 operations, one n x n copy. OpenBLAS is limited to one thread, process-wide.
class ShiftedFactorization {
 public:
  /// @param hessian  n x n, n >= 1; only the lower triangle is read.
  /// @throws PreconditionError if the matrix is not square, is empty or exceeds LAPACK's integers,
  ///         or if the shift is not finite.
  ShiftedFactorization(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                       double shift,
                       const ProgressCallback& progress = {});
  ~ShiftedFactorization();
  ShiftedFactorization(ShiftedFactorization&&) noexcept;
  ShiftedFactorization& operator=(ShiftedFactorization&&) noexcept;

  /// kOk; kNonFinite for a matrix with a NaN or an infinity; kFailed if the factors have one.
  Status status() const { return status_; }

  const Inertia& inertia() const { return inertia_; }

  /// (H - shift I)^-1 b, or nothing if a pivot is zero or there is no factorisation.
  std::optional<Eigen::VectorXd> solve(const Eigen::Ref<const Eigen::VectorXd>& b) const;

 private:
  Status status_ = Status::kNotComputed;
  Inertia inertia_;
  int exponent_ = 0;
  std::unique_ptr<detail::Ldlt> ldlt_;  // of 2^-exponent (H - shift I)
};

/// 10 (n + 10) eps norm, ten rounding bands: nearer than this to an eigenvalue, counts by
/// ShiftedFactorization are not relied upon.
double counting_band(Eigen::Index n, double norm);

/// The eigenvalue of a known rank.
struct RankedEigenvalue {
  Status status = Status::kNotComputed;
  Proof proof = Proof::kNone;
  Eigen::Index rank = -1;
  Eigenvalue eigenvalue;
  /// The eigenvalue of that rank lies in [lower, upper]: an interval of a few eps ||H||_2 enclosed
  /// by counts on the tridiagonal form, widened by the rounding band on both sides. A value of
  /// exactly zero means that the interval before widening contains zero.
  double lower = kNaN;
  double upper = kNaN;
  Eigen::VectorXd vector;  ///< its unit eigenvector; empty if inverse iteration failed
};

/// Counts by Sturm sequences on the tridiagonal form T = Q^T H Q. Ranks count from 0.
/// Not safe for concurrent use.
class EigenvalueCounter {
 public:
  /// @param hessian  n x n, n >= 1; symmetric as required by dense_spectrum().
  /// @throws PreconditionError if the matrix is not square, is empty, or exceeds LAPACK's integers.
  /// @cost  4/3 n^3 operations, one n x n copy kept. OpenBLAS is limited to one thread,
  ///        process-wide.
  explicit EigenvalueCounter(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                             const ProgressCallback& progress = {});
  ~EigenvalueCounter();
  EigenvalueCounter(EigenvalueCounter&&) noexcept;
  EigenvalueCounter& operator=(EigenvalueCounter&&) noexcept;

  /// kOk, or kNonFinite for a matrix with a NaN or an infinity; then there are no counts.
  Status status() const { return status_; }

  Eigen::Index size() const { return n_; }

  /// (n + 10) eps ||H||_2, as in Spectrum.
  double rounding_band() const;

  /// Number of eigenvalues of T below the shift, -1 without status kOk. Monotone in the shift, to
  /// the last bit. The number for H is the same unless an eigenvalue is within the rounding band of
  /// the shift.
  /// @throws PreconditionError if the shift is a NaN.
  /// @cost n divisions. @source J. Demmel, I. Dhillon & H. Ren (1995), ETNA 3, 116-149.
  std::int64_t num_below(double shift) const;

  /// By bisection, with eigenvector and residual by inverse iteration (dstein). The proof is
  /// kCounted.
  /// @throws PreconditionError unless 0 <= rank < n.
  /// @cost about 60 counts and 4 n^2 operations.
  RankedEigenvalue eigenvalue(Eigen::Index rank);

  /// eigenvalue((n - 1) / 2).
  RankedEigenvalue median() { return eigenvalue((n_ - 1) / 2); }

  /// Whether ShiftedFactorization counts at most `rank` eigenvalues below found.lower and more than
  /// `rank` below found.upper, both moved outwards by the counting band.
  /// @cost two factorisations.
  bool is_confirmed(const RankedEigenvalue& found) const;

 private:
  Status status_ = Status::kNotComputed;
  Eigen::Index n_ = 0;
  int exponent_ = 0;
  std::unique_ptr<detail::TridiagonalForm> form_;  // of 2^-exponent H
  std::unique_ptr<detail::SturmCounts> sturm_;     // of its T
};

}  // namespace hesscope
