// SPDX-License-Identifier: BSD-3-Clause
//
// Distances of two spectra as distributions.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/spectra/spectral_density.h>
#include <hesscope/spectra/spectral_measure.h>

namespace hesscope {

/// Wasserstein-1 distance: the integral of |F(x) - G(x)| over x, with F and G the distribution
/// functions, that is, the mean distance by which weight must be moved to turn one measure into the
/// other. In the unit of the nodes; exact, without a grid.
/// @throws PreconditionError if an argument is no measure (see SpectralMeasure).
/// @cost   linear in the number of nodes.
/// @source S. S. Vallender (1974), Theory Probab. Appl. 18, 784-786.
double wasserstein_distance(const SpectralMeasure& a, const SpectralMeasure& b);

/// Jensen-Shannon distance sqrt(JS), in [0, sqrt(log 2)], between the Gaussian densities of two
/// measures on a common grid; with P and Q their values there, each divided by its sum, and M = (P
/// + Q) / 2,
///
///     JS = 1/2 sum_i P_i log(P_i / M_i) + 1/2 sum_i Q_i log(Q_i / M_i)     (natural logarithm).
///
/// It is a metric, and equal measures have distance exactly 0. If the densities do not overlap, it
/// no longer measures how far apart they are, and it depends on sigma; neither applies to
/// wasserstein_distance.
/// @param  options  as for spectral_density, where "nodes" means those of both measures. Zhang et
///                  al. use sigma = sqrt(1e-5), the grid from 1 below the smallest node to 1 above
///                  the largest, 50,000 points.
/// @throws PreconditionError if an argument is not a measure; if an option is out of its range; if
///         the points are further apart than sigma, so that sums over them do not approximate
///         integrals; or if a density is zero on all of them.
/// @cost   at most one exponential for each pair of a node and a point.
/// @source D. M. Endres & J. E. Schindelin (2003), IEEE Trans. Inf. Theory 49, 1858-1860; Y. Zhang
///         et al. (2024), arXiv:2402.16788, for the spectra of blocks of a Hessian.
double jensen_shannon_distance(const SpectralMeasure& a,
                               const SpectralMeasure& b,
                               const DensityOptions& options = {});

/// The same for two densities given on the same points.
/// @param  p, q  equally many numbers, finite, nonnegative, not all zero, with any sum; otherwise
///               PreconditionError.
double jensen_shannon_distance(const Eigen::Ref<const Eigen::VectorXd>& p,
                               const Eigen::Ref<const Eigen::VectorXd>& q);

}  // namespace hesscope
