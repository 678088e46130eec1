// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// The smallest, the lower median and the largest eigenvalue of a symmetric matrix, each of a rank
/// fixed by counts, the numbers of negative, zero and positive eigenvalues, and the lower median of
/// magnitudes; not the other eigenvalues.
///
/// Householder tridiagonalisation, then bisection by Sturm counts (counts.h).
/// @param  hessian  n x n, n >= 1; symmetric as dense_spectrum() wants it.
/// @return status kOk with proof kCounted, `eigenvalues` empty; kNonFinite as dense_spectrum. The
///         zero matrix is an ordinary input. The rounding band is never zero: it is at least the
///         smallest double.
/// @param  least_band  the rounding band is at least this: that of larger matrices which `hessian`
///         is the difference of.
/// @throws PreconditionError as dense_spectrum.
/// @cost   4/3 n^3 operations, one n x n copy and O(n). OpenBLAS is held at one thread,
///         process-wide, during the call.
Spectrum counted_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                          const ProgressCallback& progress = {},
                          double least_band = 0.0);

}  // namespace hesscope
