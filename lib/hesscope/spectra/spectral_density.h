// SPDX-License-Identifier: BSD-3-Clause
//
// Spectra as curves: each eigenvalue is smoothed into a Gaussian.
#pragma once

#include <optional>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/spectra/spectral_measure.h>

namespace hesscope {

/// The default width of a kernel: 1 % of the width of the spectrum, or of a thousandth of its
/// largest magnitude if that is more, so that a single eigenvalue, known up to rounding, also has a
/// width. If all nodes are zero: 0.01.
/// @param  smallest, largest  of the nodes.
double default_sigma(double smallest, double largest);

struct DensityOptions {
  /// Standard deviation of the kernel, in the unit of the nodes; by default their default_sigma.
  std::optional<double> sigma = {};
  std::optional<double> lower = {};  ///< of the grid; by default the smallest node - 8 sigma
  std::optional<double> upper = {};  ///< of the grid; by default the largest node + 8 sigma
  Eigen::Index num_points = 2000;    ///< of the grid, equally spaced; at least 2
};

/// A measure smoothed by a Gaussian, on a grid.
struct SpectralDensity {
  double sigma = kNaN;     ///< of the kernel, unit of the nodes
  Eigen::VectorXd at;      ///< num_points, equally spaced, unit of the nodes
  Eigen::VectorXd values;  ///< num_points, per unit of the nodes
};

/// The density sum_k w_k exp(-((x - x_k) / sigma)^2 / 2) / (sqrt(2 pi) sigma) of a measure with
/// nodes x_k and weights w_k. Its integral over all x is 1, of which 1e-15 lie outside the default
/// grid. If the points are further apart than sigma, narrow features can fall between two of them.
/// @throws PreconditionError if `measure` is not one (see SpectralMeasure) or an option is out of
///         its range.
/// @cost   at most one exponential for each pair of a node and a point.
/// @source L. Lin, Y. Saad & C. Yang (2016), SIAM Rev. 58, 34-65, section 2.
SpectralDensity spectral_density(const SpectralMeasure& measure,
                                 const DensityOptions& options = {});

struct LogDensityOptions {
  double sigma = 0.1;                ///< standard deviation of the kernel, in decades
  std::optional<double> lower = {};  ///< log10 of a magnitude; by default the smallest's - 8 sigma
  std::optional<double> upper = {};  ///< log10 of a magnitude; by default the largest's + 8 sigma
  Eigen::Index num_points = 2000;    ///< of the grid, equally spaced in log10; at least 2
};

/// A measure smoothed by a Gaussian in log10 |lambda|, separately for the two signs. Zero has no
/// logarithm and is reported as a mass; the three masses sum to 1.
struct LogSpectralDensity {
  double sigma = kNaN;              ///< of the kernel, in decades
  Eigen::VectorXd log10_magnitude;  ///< num_points, equally spaced
  Eigen::VectorXd negative;         ///< per decade; the integral over all decades is negative_mass
  Eigen::VectorXd positive;         ///< per decade; the integral over all decades is positive_mass
  double negative_mass = kNaN;      ///< below -zero_band
  double zero_mass = kNaN;          ///< within the band
  double positive_mass = kNaN;      ///< above zero_band
};

/// The density over decades of magnitude. If all nodes are zero, both curves are zero, on a grid
/// around 1.
/// @param  zero_band  nodes of at most this magnitude are zero, such as Spectrum::rounding_band;
///                    not negative, finite.
/// @throws PreconditionError if `measure` is not one or an argument is out of its range.
/// @cost   as spectral_density.
LogSpectralDensity log_spectral_density(const SpectralMeasure& measure,
                                        double zero_band,
                                        const LogDensityOptions& options = {});

}  // namespace hesscope
