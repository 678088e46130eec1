// SPDX-License-Identifier: BSD-3-Clause
//
// All eigenvalues of a Hessian that no process holds: its entries are computed by ranks (core/team.h),
// lie on them block by block, and are reduced by a library for such matrices.
#pragma once

#include <memory>

#include <Eigen/Core>

#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

namespace detail {
class DistributedMatrix;
}  // namespace detail

/// A library for matrices that lie on several processes, and the ranks that have one.
class DistributedSolver {
 public:
  virtual ~DistributedSolver() = default;

  virtual Team& team() const = 0;

  /// Of how many rows and columns the square grid of processes is that matrices lie on: what the last
  /// bits of their decompositions depend on.
  virtual int grid() const = 0;

  /// n x n, of zeros; a call of all ranks. @throws OutputError where a node lacks the memory,
  /// ConfigError where the ranks are too few for the library's integers.
  virtual std::unique_ptr<detail::DistributedMatrix> matrix(Eigen::Index n) const = 0;
};

/// What is known of a Hessian that lay on several processes.
struct DistributedSpectrum {
  Spectrum spectrum;
  Eigen::VectorXd diagonal;      ///< n
  double frobenius_norm = kNaN;  ///< NaN unless the Hessian is finite
};

/// The spectrum of an objective's Hessian over all samples.
///
/// H is filled by Objective::hessian_columns() and reduced to tridiagonal form T = Q^T H Q by the
/// library; the eigenvalues of T come from Sturm counts, divided among the ranks. The answer is then
/// checked by what does not trust the reduction, with band = (n + 10) eps ||H||_2:
///   H - (lambda_min - 10 band) I and (lambda_max + 10 band) I - H have Cholesky factors, and
///   H - (lambda_min + 10 band) I and (lambda_max - 10 band) I - H have none: the ends;
///   |sum lambda_i - tr H| <= n band and | ||lambda||_2 - ||H||_F | <= sqrt(n) band: all of them,
/// as for any eigenvalues of H + E, ||E||_2 <= band / 2, each computed to band / 2.
/// Residuals of the three ranks are those of eigenvectors of T, taken back by Q.
/// @return status kOk with proof kDense; kNonFinite as dense_spectrum(); kFailed if a check fails.
///         The same to the last bit for any number of ranks with one grid.
/// @param fill_share  of the progress, for H; the rest is one step.
/// @throws what the solver's matrix() throws; Interrupted.
/// @cost 2 n^2 / grid^2 numbers on each rank of the grid, n / 2 gradients-with-tangents (generic
///       engine), 8/3 n^3 operations, and 60 n^2 divisions, all divided among the ranks. OpenBLAS is
///       held at one thread.
DistributedSpectrum distributed_spectrum(const DistributedSolver& solver,
                                         const Objective& objective,
                                         const Eigen::VectorXd& theta,
                                         const ProgressCallback& progress = {},
                                         double fill_share = 0.5);

/// What the other ranks do where the first one calls it, as ServedTask of serve().
void serve_distributed_spectrum(const DistributedSolver& solver,
                                const Objective& objective,
                                const Eigen::VectorXd& theta);

}  // namespace hesscope
