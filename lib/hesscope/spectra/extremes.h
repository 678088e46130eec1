// SPDX-License-Identifier: BSD-3-Clause
//
// The ends of the spectrum of a symmetric operator, without the rest of it.
//
//   const HessianOperator h(objective, theta);               // products H V; no n x n matrix
//   const Extremes ends = extreme_eigenpairs(h, {.num_smallest = 1, .num_largest = 5});
//   if (ends.largest.status != Status::kOk) ...              // did not converge, or not finite
//   const double lambda_max = ends.largest.values(0);        // the outermost comes first
//   const double error = ends.largest.error_bound;           // see Proof for what it promises
#pragma once

#include <cstdint>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/operators.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

struct ExtremesOptions {
  Eigen::Index num_smallest = 1;  ///< 0..n
  Eigen::Index num_largest = 1;   ///< 0..n
  /// For ||H v - lambda v||_2, relative to ||H||_2; 1e-12..1e-2. The error of an eigenvalue is of
  /// the order of the squared residual divided by the distance to the next eigenvalue.
  double tolerance = 1e-8;
  /// Up to this n the matrix is formed by n applications, in one call, and decomposed.
  Eigen::Index dense_limit = 300;
  /// Limit on the columns applied in one search for eigenvectors; there are at least two searches.
  std::int64_t max_columns = 20000;
  std::uint64_t seed = 0;  ///< of the start vectors
};

/// Eigenpairs at one end of the spectrum.
struct EndOfSpectrum {
  Status status = Status::kNotComputed;
  Proof proof = Proof::kNone;  ///< of every value: kDense, kCounted or kConverged
  Eigen::VectorXd values;      ///< the outermost first; empty without kOk
  Eigen::VectorXd residuals;   ///< ||H v - lambda v||_2 from products made after the search
  Eigen::MatrixXd vectors;     ///< n x values.size(), orthonormal columns
  /// |values[i] - the eigenvalue of that rank| is at most this; with kConverged, provided that no
  /// eigenvalue was missed.
  double error_bound = kNaN;
};

struct Extremes {
  EndOfSpectrum smallest;
  EndOfSpectrum largest;
  /// If the proof is kConverged: with at least this probability ...
  double probability = kNaN;
  /// ... a missed eigenvalue lies beyond the last one reported by at most error_bound plus this
  /// fraction of the width lambda_max - lambda_min. See extreme_eigenpairs.
  double missed_fraction = kNaN;
  std::int64_t num_calls = 0;    ///< of SymmetricOperator::apply
  std::int64_t num_columns = 0;  ///< applied in these calls
};

/// Eigenpairs at both ends of the spectrum of an operator.
///
/// Up to dense_limit rows (and if nearly all eigenvalues are requested) the matrix is formed and
/// decomposed; proof kDense. Above: restarted Lanczos (Spectra's SymEigsSolver) from a random start
/// vector, Rayleigh-Ritz on the result, and then searches from fresh random vectors orthogonal to
/// everything found so far, until one finds nothing that belongs to the outermost. This finds the
/// copies of a multiple eigenvalue and what the first search missed. A residual proves that an
/// eigenvalue is near, not that none was skipped, so the proof is kConverged.
///
/// The last search bounds what may have been missed: m Lanczos steps from a direction uniform on
/// the sphere underestimate the largest eigenvalue by more than a fraction f of the width with
/// probability at most 1.648 sqrt(n) exp(-(2 m - 1) sqrt f). The only assumption is that the start
/// vectors are such random directions; they are pseudo-random and fixed by the seed.
///
/// @return for each end, status kOk or: kNonFinite if a product has a NaN or an infinity; kFailed
///         if a search did not converge; kNotComputed for an end of which nothing is requested.
/// @throws PreconditionError if n is 0 or an option is out of its range. Exceptions of the operator
///         pass through.
/// @cost   typically 50 to 110 columns applied for one pair at each end, a block of 4 and then one
///         by one; n doubles for each step of a search, of which at most 512 are held. The progress
///         callback is called before each column; its fraction is estimated from the residuals.
/// @source J. Kuczynski & H. Wozniakowski (1992), SIAM J. Matrix Anal. Appl. 13, 1094-1122, the
///         probabilistic bound of the Lanczos method.
Extremes extreme_eigenpairs(const SymmetricOperator& h,
                            const ExtremesOptions& options = {},
                            const ProgressCallback& progress = {});

/// The same for an explicit matrix, where counts prove that nothing was missed.
///
/// After the search above, one factorisation per end (counts.h), or two if eigenvalues crowd,
/// counts the eigenvalues beyond the last one reported; proof kCounted if the count equals the
/// number found there, else status kFailed.
/// @param  hessian  n x n, n >= 1; symmetric as required by dense_spectrum().
/// @throws PreconditionError as above, and if the matrix is not square or exceeds LAPACK's
///         integers.
/// @cost   as above, and n^3 / 3 operations and an n x n copy per factorisation.
Extremes extreme_eigenpairs(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                            const ExtremesOptions& options = {},
                            const ProgressCallback& progress = {});

}  // namespace hesscope
