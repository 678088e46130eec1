// SPDX-License-Identifier: BSD-3-Clause
//
// Outermost eigenvalues with their gradients.
//
// A simple eigenvalue lambda of H with the unit eigenvector v has, along u, the slope
//   d/de lambda(theta + e u) = v' (dH/de) v = v' T[u, v] = u' T[v, v],
// so that its gradient is T[v, v]. Eigenvalues that coincide have none, as they may cross; but
// their mean has: that of tr(V' H V) / m with the space of the m eigenvectors V held, the mean of
// T[v_i, v_i]. Eigenvalues that are nearly as close are taken so, too: their eigenvectors are known
// to the residual over the gap, and no better.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/extremes.h>

namespace hesscope::detail {

/// Eigenvalues this close, in units of the largest magnitude, are of a cluster unless another gap
/// is asked for: their eigenvectors are any basis of one space.
inline constexpr double kClusterGap = 1e-6;

/// The largest magnitude of an eigenvalue; both ends must be kOk.
double largest_magnitude(const Extremes& extremes);

/// Eigenvalues that are closer to their neighbours than a gap.
struct EigenvalueCluster {
  Eigen::Index first = 0;  ///< the outermost of them
  Eigen::Index size = 0;
  double mean = 0;
  bool is_whole = false;  ///< whether it ends within what was asked for
  /// Of a whole one, the sine of the angle by which its eigenvectors may be off: the norm of their
  /// residuals over the distance to the eigenvalues next to it (Davis & Kahan).
  double tilt = 0;
  /// Of the mean; empty unless it is whole and the objective has third derivatives.
  Eigen::VectorXd gradient = {};

  bool has_gradient() const { return gradient.size() > 0; }
};

/// Eigenvalues at one end of the spectrum, in clusters.
struct ClusteredEnd {
  Status status = Status::kNotComputed;
  Proof proof = Proof::kNone;
  double error_bound = kNaN;       ///< EndOfSpectrum::error_bound
  double rounding_band = kNaN;     ///< Spectrum::rounding_band, by the ends of the spectrum
  Eigen::VectorXd values = {};     ///< the outermost first; nothing here and below without kOk
  Eigen::VectorXd residuals = {};  ///< EndOfSpectrum::residuals
  Eigen::MatrixXd vectors = {};
  std::vector<EigenvalueCluster> clusters = {};

  /// P grad of a cluster's gradient, P removing its eigenvectors; zero where it is the gradient's
  /// rounding or what eigenvectors that are off leave of it.
  Eigen::VectorXd projected_gradient(const EigenvalueCluster& cluster) const;

  /// The gradient of the mean of the eigenvalues [first, first + size): none where a cluster holds
  /// some of them beside others, or has none.
  std::optional<Eigen::VectorXd> gradient_of(Eigen::Index first, Eigen::Index size) const;
};

/// The `count` outermost eigenvalues at one end, clusters being closer than `gap` times the largest
/// magnitude of an eigenvalue. No cluster has a gradient.
ClusteredEnd clustered_values(PointAnalysis& point,
                              EndOfSpectrum Extremes::*member,
                              Eigen::Index count,
                              double gap);

/// The same with gradients.
/// @cost count pairs of third derivatives besides the eigenpairs.
ClusteredEnd clustered_end(PointAnalysis& point,
                           EndOfSpectrum Extremes::*member,
                           Eigen::Index count,
                           double gap);

/// The largest and the smallest eigenvalues of a checkpoint.
struct ClusteredEnds {
  std::size_t index = 0;  ///< of the checkpoint
  std::array<ClusteredEnd, 2> ends;
};

/// Those of a checkpoint and of the one before it.
struct NeighbouringEnds {
  std::shared_ptr<const ClusteredEnds> here;
  std::shared_ptr<const ClusteredEnds> before;  ///< null for a checkpoint that has none before it
};

/// By `find`, of the checkpoint before only where the analyzer of this name has not kept them from
/// there; keeps those of this one.
NeighbouringEnds neighbouring_ends(
    PointAnalysis& point,
    const std::string& analyzer,
    const std::function<ClusteredEnd(PointAnalysis&, EndOfSpectrum Extremes::*)>& find);

}  // namespace hesscope::detail
