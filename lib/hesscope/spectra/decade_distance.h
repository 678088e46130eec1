// SPDX-License-Identifier: BSD-3-Clause
//
// Distances of spectra by the magnitudes of their eigenvalues.
#pragma once

#include <span>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// Eigenvalues, and the magnitude up to which they are zero within rounding.
struct BandedEigenvalues {
  Eigen::VectorXd eigenvalues;  ///< n >= 1, finite, in any order
  double zero_band = 0;         ///< at least 0, in their unit
};

/// Jensen-Shannon distances of m spectra counted by sign and decade.
///
/// With M the largest magnitude of any of their eigenvalues, each spectrum is divided into the
/// classes
///
///     zero            |lambda| <= its zero_band,
///     (sign, k)       10^-(k+1) M < |lambda| <= 10^-k M,   k = 0, 1, ...,
///
/// where magnitudes up to a relative 2e-12 above an edge count as lying on it. The distance of two
/// spectra is that of their class shares: sqrt(JS) in [0, sqrt(log 2)], as in
/// jensen_shannon_distance(). It is exactly 0 for spectra with the same share in every class, and
/// sqrt(log 2) for those with no class in common.
///
/// Kernels of a single width on a linear axis separate the few large eigenvalues and merge all
/// others into one peak at zero; in decades, every eigenvalue counts alike, and there is no width
/// to choose. Since all spectra share one partition, the distances are a metric (including the
/// triangle inequality). They do not change if all spectra are multiplied by one number of either
/// sign, or if all eigenvalues of a spectrum are repeated equally often.
/// @return m x m, symmetric, 0 on the diagonal.
/// @throws PreconditionError for a spectrum without eigenvalues, one that is not finite, or a band
///         that is negative or NaN.
/// @cost   n log n for each spectrum, and m^2 times the number of decades.
/// @source D. M. Endres & J. E. Schindelin (2003), IEEE Trans. Inf. Theory 49, 1858-1860, for the
///         metric. The question is that of Y. Zhang et al. (2024), arXiv:2402.16788.
Eigen::MatrixXd decade_distances(std::span<const BandedEigenvalues> spectra);

}  // namespace hesscope
