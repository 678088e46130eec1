// SPDX-License-Identifier: BSD-3-Clause
//
// Outermost eigenvalues with their gradients.
//
// A simple eigenvalue lambda of H with the unit eigenvector v has, along u, the slope
//   d/de lambda(theta + e u) = v' (dH/de) v = v' T[u, v] = u' T[v, v],
// so its gradient is T[v, v]. Eigenvalues that coincide have no gradient, because they may cross.
// But their mean has one: that of tr(V' H V) / m with the space of the m eigenvectors V held fixed,
// which is the mean of T[v_i, v_i]. Eigenvalues that are nearly as close are treated in the same
// way, because their eigenvectors are known only to the residual over the gap.
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

/// Eigenvalues this close, in units of the largest magnitude, form a cluster unless another gap is
/// asked for: their eigenvectors are any basis of one space.
inline constexpr double kClusterGap = 1e-6;

/// The largest magnitude of an eigenvalue; both ends must be kOk.
double largest_magnitude(const Extremes& extremes);

/// Eigenvalues that are closer to their neighbours than a gap.
struct EigenvalueCluster {
  Eigen::Index first = 0;  ///< the outermost of them
  Eigen::Index size = 0;
  double mean = 0;
  bool is_whole = false;  ///< whether it ends within the eigenvalues asked for
  /// For a whole cluster, the sine of the angle by which its eigenvectors may be off: the norm of
  /// their residuals over the distance to the neighbouring eigenvalues (Davis & Kahan).
  double tilt = 0;
  /// Gradient of the mean; empty unless the cluster is whole and the objective has third
  /// derivatives.
  Eigen::VectorXd gradient = {};

  bool has_gradient() const { return gradient.size() > 0; }
};

/// Eigenvalues at one end of the spectrum, in clusters.
struct ClusteredEnd {
  Status status = Status::kNotComputed;
  Proof proof = Proof::kNone;
  double error_bound = kNaN;       ///< EndOfSpectrum::error_bound
  double rounding_band = kNaN;     ///< Spectrum::rounding_band, by the ends of the spectrum
  Eigen::VectorXd values = {};     ///< outermost first; without kOk, this and what follows is empty
  Eigen::VectorXd residuals = {};  ///< EndOfSpectrum::residuals
  Eigen::MatrixXd vectors = {};
  std::vector<EigenvalueCluster> clusters = {};

  /// P grad of a cluster's gradient, where P removes its eigenvectors; zero if it is only rounding
  /// of the gradient, or what inaccurate eigenvectors leave of it.
  Eigen::VectorXd projected_gradient(const EigenvalueCluster& cluster) const;

  /// The gradient of the mean of the eigenvalues [first, first + size). Nothing if a cluster
  /// contains some of them together with others, or has no gradient.
  std::optional<Eigen::VectorXd> gradient_of(Eigen::Index first, Eigen::Index size) const;
};

/// The `count` outermost eigenvalues at one end. Eigenvalues of a cluster are closer than `gap`
/// times the largest magnitude of an eigenvalue. No cluster has a gradient.
ClusteredEnd clustered_values(PointAnalysis& point,
                              EndOfSpectrum Extremes::*member,
                              Eigen::Index count,
                              double gap);

/// The same with gradients.
/// @cost count pairs of third derivatives, in addition to the eigenpairs.
ClusteredEnd clustered_end(PointAnalysis& point,
                           EndOfSpectrum Extremes::*member,
                           Eigen::Index count,
                           double gap);

/// The largest and the smallest eigenvalues of a checkpoint.
struct ClusteredEnds {
  std::size_t index = 0;  ///< of the checkpoint
  std::array<ClusteredEnd, 2> ends;
};

/// The ends at a checkpoint and at the previous one.
struct NeighbouringEnds {
  std::shared_ptr<const ClusteredEnds> here;
  std::shared_ptr<const ClusteredEnds> before;  ///< null if the checkpoint has no predecessor
};

/// Computes the ends by `find`, at the previous checkpoint only if the analyzer of this name has
/// not kept them from there; keeps those of this checkpoint.
NeighbouringEnds neighbouring_ends(
    PointAnalysis& point,
    const std::string& analyzer,
    const std::function<ClusteredEnd(PointAnalysis&, EndOfSpectrum Extremes::*)>& find);

}  // namespace hesscope::detail
