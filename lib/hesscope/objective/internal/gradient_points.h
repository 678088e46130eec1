// SPDX-License-Identifier: BSD-3-Clause
//
// Random points, and what the gradients of samples are there.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// A point and the gradients of samples' losses there, as columns.
struct GradientPoint {
  Eigen::VectorXd theta;
  Eigen::MatrixXd gradients;
};

/// @throws PreconditionError in the name of `function` unless max_samples is at least 1.
void require_max_samples(const char* function, Eigen::Index max_samples);

/// Parameters of sizes that keep signals alive: a matrix's entries shrink with the root of its
/// width.
Eigen::VectorXd random_parameters(std::span<const ParameterBlock> blocks, std::mt19937_64& engine);

/// The gradients of at most max_samples samples, spread over the data, as columns.
Eigen::MatrixXd sample_gradients(const Objective& objective,
                                 const Eigen::VectorXd& theta,
                                 Eigen::Index max_samples);

/// `count` random points with their sample_gradients();
/// points where something is not finite are passed over, and may be missing.
std::vector<GradientPoint> random_gradient_points(const Objective& objective,
                                                  std::mt19937_64& engine,
                                                  Eigen::Index max_samples,
                                                  std::size_t count);

/// What a search looks at: some points to find with, and then others to verify with.
struct SearchPoints {
  std::vector<GradientPoint> points;
  std::size_t num_finding = 0;
  double tolerance = 0;  ///< of a sum of terms that vanishes, relative to that of their magnitudes

  Eigen::Index samples() const { return points.front().gradients.cols(); }

  /// Rows of SumTerms: samples of all points, and of those to find with.
  Eigen::Index num_rows() const { return static_cast<Eigen::Index>(points.size()) * samples(); }

  Eigen::Index num_finding_rows() const {
    return static_cast<Eigen::Index>(num_finding) * samples();
  }
};

}  // namespace hesscope::detail
