// SPDX-License-Identifier: BSD-3-Clause
//
// Measures for the tests, and what trapezoids say about curves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>

#include <hesscope/spectra/spectral_measure.h>

#include "support/matrices.h"

namespace hesscope::test {

/// `size` nodes in [centre - 1, centre + 1) with unequal weights.
inline SpectralMeasure random_measure(Eigen::Index size, std::uint64_t seed, double centre = 0.0) {
  SpectralMeasure measure;
  measure.nodes = random_matrix(size, 1, seed).array() + centre;
  std::sort(measure.nodes.begin(), measure.nodes.end());
  measure.weights = random_matrix(size, 1, seed + 1000).array() + 1.001;
  measure.weights /= measure.weights.sum();
  return measure;
}

inline double trapezoid(const Eigen::VectorXd& at, const Eigen::VectorXd& values) {
  double sum = 0.0;
  for (Eigen::Index i = 1; i < at.size(); ++i) {
    sum += 0.5 * (values[i] + values[i - 1]) * (at[i] - at[i - 1]);
  }
  return sum;
}

}  // namespace hesscope::test
