// SPDX-License-Identifier: BSD-3-Clause
//
// The spectrum of an operator as a distribution, estimated from products with random vectors.
#pragma once

#include <cstdint>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/operators.h>
#include <hesscope/spectra/spectral_measure.h>

namespace hesscope {

/// How the entries of a probe are drawn, before it is scaled to length 1.
enum class ProbeEntries : std::int8_t {
  kGaussian = 0,    ///< the direction is uniform on the sphere
  kRademacher = 1,  ///< +1 or -1 with equal probability
};

struct QuadratureOptions {
  /// At least 1. With n or more, the probes are the n unit vectors, and nothing is random.
  Eigen::Index num_probes = 10;
  Eigen::Index num_steps = 100;  ///< Lanczos steps per probe; at least 1, and at most n are done
  ProbeEntries entries = ProbeEntries::kGaussian;
  std::uint64_t seed = 0;  ///< of the probes; more probes begin with the same ones
  int num_threads = 0;     ///< as for Executor. Does not affect results.
};

/// A mean over probes. Both are NaN if the mean is beyond the range of double: the square of a norm
/// above 1e154.
struct ProbeEstimate {
  double value = kNaN;
  /// s / sqrt(num_probes), with s^2 the unbiased variance over probes; NaN for a single probe, and
  /// 0 if the probes are a basis.
  double standard_error = kNaN;
};

/// One quadrature rule for each probe, and their combined results. Rules that end early are padded
/// with NaN nodes of weight 0. Without kOk, only the counts are reported.
struct LanczosQuadrature {
  Status status = Status::kNotComputed;
  Eigen::MatrixXd nodes;  ///< (at most num_steps) x (number of probes), each column ascending
  /// Same size: for the rule of probe v, sum_i weights(i) f(nodes(i)) = v^T f(H) v for polynomials
  /// f of degree 2 m - 1, where m is the number of its nodes, and for all f if the rule ended
  /// early.
  Eigen::MatrixXd weights;
  /// Same size: weights corrected for eigenvalues whose multiplicity is known, see below.
  Eigen::MatrixXd calibrated_weights;
  Eigen::Index num_counted = 0;  ///< eigenvalues of known multiplicity, with repeats

  SpectralMeasure measure;               ///< mean of the calibrated rules
  ProbeEstimate trace;                   ///< n times the mean of the nodes
  ProbeEstimate squared_frobenius_norm;  ///< n times the mean of their squares

  std::int64_t num_calls = 0;    ///< of SymmetricOperator::apply
  std::int64_t num_columns = 0;  ///< applied in these calls
};

/// Stochastic Lanczos quadrature: for each of several random unit vectors v, num_steps of Lanczos
/// with full reorthogonalisation give the Gauss rule of the measure with weight (u^T v)^2 at the
/// eigenvalue of each unit eigenvector u. The mean over v estimates the measure with weight 1 / n
/// there. All probes advance by one step together, in one product with a block. A rule ends early
/// if its Krylov space is invariant to rounding: it is then exact, and not restarted.
///
/// Most of the error of that mean comes from the random weights of eigenvalues that every probe has
/// found: relative sqrt(2 / num_probes), independently of the number of steps. Calibration removes
/// it. Nodes are grouped across probes (within 1e-8 ||H||_2). If all nodes of a group have
/// converged (residual 1e-12 ||H||_2) and all probes are represented, their Ritz vectors are
/// eigenvectors drawn from one eigenspace. If those of the second half of the probes lie in the
/// span of those of the first half, that span, of dimension r, is the eigenspace. The group is then
/// given the weight r / n in each rule, and the other weights are rescaled: the result is the
/// quadrature of the probe's projection outside the counted eigenspaces, and needs no further
/// products. Gaussian probes only: others are too rarely in general position, and a basis does not
/// need it.
///
/// @return status kOk; kNonFinite if a product has a NaN or an infinity; kFailed if the eigenvalues
///         of a tridiagonal matrix did not converge.
/// @throws PreconditionError if the operator has no rows or an option is out of its range.
///         Exceptions of the operator pass through.
/// @cost   num_probes * num_steps columns applied, and n doubles for each of them; about 4 n
///         num_probes num_steps^2 operations in addition to the products.
/// @source G. H. Golub & G. Meurant (1994), Matrices, moments and quadrature; S. Ubaru, J. Chen &
/// Y. Saad (2017), SIAM J. Matrix Anal. Appl. 38, 1075-1099, algorithm 1; for Hessians of networks
/// B. Ghorbani, S. Krishnan & Y. Xiao (2019), arXiv:1901.10159. For giving converged Ritz values
/// the weight 1 / n: R. Bhattacharjee et al. (2025), Improved spectral density estimation via
/// explicit and implicit deflation, SODA; here, in contrast, multiplicities are counted.
LanczosQuadrature lanczos_quadrature(const SymmetricOperator& h,
                                     const QuadratureOptions& options = {},
                                     const ProgressCallback& progress = {});

}  // namespace hesscope
