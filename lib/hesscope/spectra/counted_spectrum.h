// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

/// Parts of the spectrum of a symmetric matrix: the smallest, the lower median and the largest
/// eigenvalue, each with its rank established by counts; the numbers of negative, zero and positive
/// eigenvalues; and the lower median of the magnitudes. The other eigenvalues are not computed.
///
/// Householder tridiagonalisation, then bisection by Sturm counts (counts.h).
/// @param  hessian  n x n, n >= 1; symmetric as required by dense_spectrum().
/// @return status kOk with proof kCounted, `eigenvalues` empty; kNonFinite as dense_spectrum. The
///         zero matrix is a valid input. The rounding band is never zero: it is at least the
///         smallest double.
/// @param  least_band  a lower limit of the rounding band, for a `hessian` that is the difference
///                     of larger matrices.
/// @throws PreconditionError as dense_spectrum.
/// @cost   4/3 n^3 operations, one n x n copy and O(n). OpenBLAS is limited to one thread,
///         process-wide, during the call.
Spectrum counted_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                          const ProgressCallback& progress = {},
                          double least_band = 0.0);

}  // namespace hesscope
