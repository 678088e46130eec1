// SPDX-License-Identifier: BSD-3-Clause
//
// All eigenvalues of a symmetric matrix, each with its evidence.
//
//   const Spectrum s = dense_spectrum(objective.hessian(theta));
//   if (s.status != Status::kOk) ...                         // not finite, or not converged
//   const double lambda_max = s.largest.value;               // s.largest.residual is ||H v - l v||
//   const Eigen::VectorXd& all = s.eigenvalues;              // ascending
//   const bool curves_upwards = s.num_negative == 0;         // none below -s.rounding_band
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>

namespace hesscope {

/// How a reported eigenvalue was established.
enum class Proof : std::int8_t {
  kNone = 0,       ///< no eigenvalue was established
  kConverged = 1,  ///< a residual bound, but no count: another eigenvalue may have been skipped
  kDense = 2,      ///< from the full decomposition, exact to the rounding band
  kCounted = 3,    ///< inertia on both sides fixes its rank
};

/// Meanings in the order of the enumerator values, spelled as in CF flag_meanings.
inline constexpr std::array<std::string_view, 4> kProofMeanings = {
    "none", "converged", "dense", "counted"};
static_assert(kProofMeanings.size() == static_cast<std::size_t>(Proof::kCounted) + 1);

/// One eigenvalue with its evidence.
struct Eigenvalue {
  double value = kNaN;  ///< NaN when not established
  /// ||H v - lambda v||_2 for its unit eigenvector v; NaN when not computed. An eigenvalue of H
  /// lies within this distance of `value`, up to rounding; whether its rank is right is a matter of
  /// the proof.
  double residual = kNaN;
};

/// The spectrum of a symmetric matrix and quantities derived from ranks.
struct Spectrum {
  Status status = Status::kNotComputed;
  Proof proof = Proof::kNone;
  Eigen::VectorXd eigenvalues;  ///< ascending; empty when not all were computed

  Eigenvalue smallest;  ///< lambda_min, rank 0
  Eigenvalue median;    ///< lower median, rank floor((n - 1) / 2) from 0
  Eigenvalue largest;   ///< lambda_max, rank n - 1

  /// Order statistic floor((n - 1) / 2) from 0 of the magnitudes |lambda|.
  double median_magnitude = kNaN;

  /// (n + 10) eps ||H||_2: no reported eigenvalue of a full decomposition is further than this from
  /// an exact one of the given matrix, so one of at most this magnitude cannot be distinguished
  /// from zero. In 44,000 random matrices of 1 to 30 rows, many of them graded, compared with
  /// 50-digit results, the largest error was 0.52 of it; a factor n alone is too small below 10
  /// rows.
  double rounding_band = kNaN;

  /// No eigenvalue is further than this from the eigenvalue of H of the same rank, as proved by
  /// means of all eigenvectors, up to the rounding of their products with H; NaN unless this was
  /// requested (distributed_spectrum).
  double error_bound = kNaN;
  std::int64_t num_negative = -1;  ///< below -rounding_band; -1: not computed, as in all counts
  std::int64_t num_zero = -1;      ///< within the rounding band, dead parameters included
  std::int64_t num_positive = -1;  ///< above rounding_band
  std::int64_t num_dead = -1;      ///< rows of H that are identically zero

  /// ||H||_2, the larger magnitude of its ends; NaN unless both are known.
  double norm() const;
};

/// All eigenvalues of a symmetric matrix by LAPACK, with eigenvectors for the residuals of the
/// three ranks above.
///
/// Householder tridiagonalisation (dsytrd; from 2,500 rows on in two stages, dsytrd_sy2sb and
/// dsytrd_sb2st), all eigenvalues by the root-free QR iteration (dsterf), three eigenvectors by
/// inverse iteration (dstein, or on the band by dgbtrf) and back-transformation. The matrix is
/// first scaled by a power of two: magnitudes from denormal to near overflow are treated alike.
/// @param  hessian  n x n, n >= 1, symmetric: opposite entries may differ by rounding, at most (n +
///                  10) eps times the largest magnitude, and those below the diagonal are used.
/// @param  least_band  a lower limit of the rounding band, for a `hessian` that is the difference
///                     of larger matrices.
/// @return status kOk with proof kDense; kNonFinite if the matrix has a NaN or an infinity, or if
///         an eigenvalue is beyond the range of double; kFailed if the QR iteration does not
///         converge. Without kOk no eigenvalue is reported. The zero matrix is a valid input. If
///         only an eigenvector fails, its residual is NaN and the status remains kOk: with or
///         without vectors, dsterf delivers all n eigenvalues to the rounding band or reports
///         failure.
/// @throws PreconditionError if the matrix is not square, is empty, exceeds LAPACK's integers, or
///         is not symmetric; the message then says where the largest asymmetry is, and how large.
/// @cost   4/3 n^3 operations, one n x n copy and O(n). Concurrent calls are safe. OpenBLAS is
///         limited to one thread, process-wide, during the call, so that no result depends on its
///         thread count. Progress is reported several times a second up to about 10,000 rows,
///         except during the QR iteration, which takes about 1 % of the time.
Spectrum dense_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                        const ProgressCallback& progress = {},
                        double least_band = 0.0);

/// The lower median: order statistic floor((n - 1) / 2), counted from 0. NaN for an empty or
/// non-finite input.
double lower_median(const Eigen::Ref<const Eigen::VectorXd>& values);

}  // namespace hesscope
