// SPDX-License-Identifier: BSD-3-Clause
//
// All eigenvalues of a Hessian that no single process holds: ranks (core/team.h) compute its
// entries and store them block by block, and a library for distributed matrices reduces it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

namespace detail {
class DistributedMatrix;
}  // namespace detail

/// Libraries that reduce distributed matrices.
enum class DistributedEngine {
  kScalapack,
  kElpa,  ///< if built in; its results are accepted only with a full proof
};

/// "scalapack", "elpa", in the order of the engines.
const std::vector<std::string>& distributed_engine_names();
const std::string& name_of(DistributedEngine engine);

/// `name` is one of distributed_engine_names(). @throws PreconditionError.
DistributedEngine distributed_engine_of(std::string_view name);

/// A library for matrices distributed over several processes, and the ranks that have it.
class DistributedSolver {
 public:
  virtual ~DistributedSolver() = default;

  virtual Team& team() const = 0;

  /// The number of rows and columns of the square process grid over which matrices are distributed;
  /// the last bits of their decompositions depend on it.
  virtual int grid() const = 0;

  /// The library, on which the last bits depend, too.
  virtual DistributedEngine engine() const = 0;

  /// An n x n matrix of zeros; a call of all ranks. @throws OutputError if a node lacks the memory,
  /// ConfigError if there are too few ranks for the library's integers, or too many for the
  /// library.
  /// @param with_vectors  whether vector_errors() will be called, which takes memory.
  virtual std::unique_ptr<detail::DistributedMatrix> matrix(Eigen::Index n,
                                                            bool with_vectors) const = 0;
};

struct DistributedSpectrumOptions {
  bool proves_fully = false;  ///< by all eigenvectors
  double fill_share = 0.5;    ///< of the progress, for H; the rest is one step
};

/// What is known of a distributed Hessian.
struct DistributedSpectrum {
  Spectrum spectrum;
  Eigen::VectorXd diagonal;      ///< n
  double frobenius_norm = kNaN;  ///< NaN unless the Hessian is finite
};

/// The spectrum of an objective's Hessian over all samples.
///
/// H is filled by Objective::hessian_columns() and reduced to tridiagonal form T = Q^T H Q by the
/// library; the eigenvalues of T come from Sturm counts, divided among the ranks. The result is
/// then checked by computations that do not rely on the reduction, with band = (n + 10) eps
/// ||H||_2:
///   H - (lambda_min - 10 band) I and (lambda_max + 10 band) I - H have Cholesky factors, and
///   H - (lambda_min + 10 band) I and (lambda_max - 10 band) I - H have none: the ends;
///   |sum lambda_i - tr H| <= n band and | ||lambda||_2 - ||H||_F | <= sqrt(n) band: all of them,
/// as is true for the eigenvalues of any H + E with ||E||_2 <= band / 2, each computed to band / 2.
/// Residuals of the three ranks are those of eigenvectors of T, transformed back by Q.
///
/// The full proof covers each eigenvalue. Let Q hold all eigenvectors of T, transformed back,
/// Lambda the computed eigenvalues, R = H Q - Q Lambda and d = ||Q^T Q - I||_F < 1. With Q = U S
/// V^T (singular values S >= sqrt(1 - d)), A = U^T H U, B = V^T Lambda V, and C = U^T R V = A S - S
/// B:
///   C_ij + C_ji = (A - B)_ij (S_i + S_j),
/// and dividing by S_i + S_j entry by entry, which is multiplication by a positive semidefinite
/// matrix with 1 / (2 S_i) on its diagonal, multiplies no spectral norm by more than 1 / (2 min S).
/// So ||A - B||_2 <= ||R||_2 / min S, and by Weyl's inequality every eigenvalue of H is within
///   error_bound = ||R||_F / sqrt(1 - d)
/// of the one of its rank in Lambda. This bound must not exceed the band. It does not include the
/// error of R, which is computed to a few eps ||H||_F.
/// @return status kOk with proof kDense; kNonFinite as dense_spectrum(); kFailed if a check fails.
///         With ScaLAPACK, bit-identical for any number of ranks with the same grid.
/// @throws what the solver's matrix() throws; Interrupted.
/// @cost 2 n^2 / grid^2 numbers on each rank of the grid, n / 2 gradients-with-tangents (generic
///       engine), 8/3 n^3 operations, and 60 n^2 divisions, all divided among the ranks; with the
///       full proof 5 n^2 / grid^2 numbers, and up to 19/3 n^3 further operations. OpenBLAS is
///       limited to one thread.
/// @source Z.-H. Cao, J.-J. Xie & R.-C. Li (1996), Linear Algebra Appl. 245, 147-155, whose theorem
/// is that of the full proof for any number of vectors.
DistributedSpectrum distributed_spectrum(const DistributedSolver& solver,
                                         const Objective& objective,
                                         const Eigen::VectorXd& theta,
                                         const DistributedSpectrumOptions& options = {},
                                         const ProgressCallback& progress = {});

/// What the other ranks do when the first one calls distributed_spectrum(), as a ServedTask of
/// serve().
/// @param proves_fully  as there.
void serve_distributed_spectrum(const DistributedSolver& solver,
                                const Objective& objective,
                                const Eigen::VectorXd& theta,
                                bool proves_fully);

}  // namespace hesscope
