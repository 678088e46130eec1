// SPDX-License-Identifier: BSD-3-Clause
//
// How gradient noise is aligned with the curvature, for the Hessian H and the covariance S of
// per-sample gradients (gradient_covariance.h). If S is proportional to H, the cosine is 1, the
// commutator 0, and the noise along an eigenvector is proportional to its eigenvalue.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/statistics/least_squares.h>

namespace hesscope {

struct NoiseAlignment {
  /// tr(H S) / (||H||_F ||S||_F), in [-1, 1].
  Statistic cosine;
  /// ||H S - S H||_F / (2 ||H||_F ||S||_F): 0 if H and S have common eigenvectors, and at most 1 /
  /// sqrt(2) for any two matrices (Boettcher & Wenzel).
  Statistic commutator;
};

/// @param  hessian, covariance  n x n, symmetric; only their lower triangles are read.
/// @return undefined (zero denominator) if one of them is zero; kNonFinite if one is not finite.
/// @throws PreconditionError if they are not square and of the same size.
/// @cost   2 n^3 operations; three n x n matrices. OpenBLAS is limited to one thread, process-wide,
///         during the call.
/// @source A. Boettcher & D. Wenzel (2008), Linear Algebra Appl. 429, 1864-1885, for the bound.
NoiseAlignment noise_alignment(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                               const Eigen::Ref<const Eigen::MatrixXd>& covariance);

struct NoiseSpectrum {
  Status status = Status::kNotComputed;
  /// v_k^T S v_k, n entries in the order of the eigenvalues; their sum is tr S. Eigenvalues whose
  /// distance to the next is at most the rounding band of H count as coinciding: each of them gets
  /// the mean over the group, which does not depend on the choice of basis.
  Eigen::VectorXd noise;
  /// log noise_k = intercept + p log |lambda_k|: the slope p is the exponent of noise ~ |lambda|^p,
  /// with its standard error. Fitted by least squares over the k with |lambda_k| above the rounding
  /// band of H and noise_k above (n + 10) eps ||S||_F, that of S; coinciding eigenvalues are one
  /// point, at their mean.
  LineFit power_law;
  /// The number of these points; the line is undefined if there are fewer than two, or if their
  /// |lambda| differ by no more than the rounding band.
  Eigen::Index num_fitted = 0;
};

/// @param  eigensystem  of the Hessian.
/// @param  covariance  S / 4^exponent, n x n, symmetric; only its lower triangle is read.
/// @param  exponent  as in GradientCovariance.
/// @return status kOk; that of the eigensystem if it is not kOk; kNonFinite if S is not finite.
/// @throws PreconditionError if S is not n x n.
/// @cost   2 n^3 operations; two n x n matrices. OpenBLAS as above.
NoiseSpectrum noise_spectrum(const Eigensystem& eigensystem,
                             const Eigen::Ref<const Eigen::MatrixXd>& covariance,
                             int exponent = 0);

}  // namespace hesscope
