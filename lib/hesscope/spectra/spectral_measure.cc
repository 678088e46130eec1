// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/spectral_measure.h>

namespace hesscope {

using Eigen::Index;
using Eigen::VectorXd;

SpectralMeasure exact_measure(const Eigen::Ref<const VectorXd>& eigenvalues) {
  const Index n = eigenvalues.size();
  if (n == 0 || !eigenvalues.allFinite()) {
    throw PreconditionError(fmt::format(
        "exact_measure: eigenvalues must be finite, and at least one; got {}, {} of them finite",
        n,
        eigenvalues.array().isFinite().count()));
  }
  SpectralMeasure measure{eigenvalues, VectorXd::Constant(n, 1.0 / static_cast<double>(n))};
  std::sort(measure.nodes.begin(), measure.nodes.end());
  return measure;
}

void detail::require_measure(const char* function, const SpectralMeasure& measure) {
  const auto refuse = [function](const char* what) {
    throw PreconditionError(fmt::format("{}: {}", function, what));
  };
  if (measure.nodes.size() == 0 || measure.nodes.size() != measure.weights.size()) {
    throw PreconditionError(fmt::format(
        "{}: a measure must have as many weights as nodes, and at least one; got {} and {}",
        function,
        measure.weights.size(),
        measure.nodes.size()));
  }
  if (!measure.nodes.allFinite()) refuse("the nodes of a measure must be finite");
  if (!std::is_sorted(measure.nodes.begin(), measure.nodes.end())) {
    refuse("the nodes of a measure must ascend");
  }
  if (!(measure.weights.array() >= 0.0).all()) {
    refuse("the weights of a measure must not be negative");
  }
  if (!(std::abs(measure.weights.sum() - 1.0) <= 1e-8)) {
    throw PreconditionError(fmt::format(
        "{}: the weights of a measure must sum to 1, got {}", function, measure.weights.sum()));
  }
}

}  // namespace hesscope
