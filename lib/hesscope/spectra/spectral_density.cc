// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/internal/gaussian_grid.h>
#include <hesscope/spectra/spectral_density.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The part of a measure with one sign, by magnitude.
struct OneSign {
  VectorXd log10_magnitudes;
  VectorXd weights;
};

OneSign one_sign(const SpectralMeasure& measure, double sign, double zero_band) {
  std::vector<Index> members;
  for (Index k = 0; k < measure.nodes.size(); ++k) {
    if (sign * measure.nodes[k] > zero_band) members.push_back(k);
  }
  // One by one: Eigen's vectorised version treats subnormal numbers as the smallest normal one.
  const auto log10_magnitude = [](double node) { return std::log10(std::abs(node)); };
  return {measure.nodes(members).unaryExpr(log10_magnitude), measure.weights(members)};
}

}  // namespace

double default_sigma(double smallest, double largest) {
  const double magnitude = std::max(std::abs(smallest), std::abs(largest));
  if (magnitude == 0.0) return 0.01;
  const double sigma = 0.01 * std::max(largest - smallest, 1e-3 * magnitude);
  return std::max(sigma, std::numeric_limits<double>::min());
}

SpectralDensity spectral_density(const SpectralMeasure& measure, const DensityOptions& options) {
  detail::require_measure("spectral_density", measure);
  const double smallest = measure.nodes[0];
  const double largest = measure.nodes[measure.nodes.size() - 1];
  const detail::GaussianGrid grid("spectral_density",
                                  options.sigma.value_or(default_sigma(smallest, largest)),
                                  smallest,
                                  largest,
                                  options.lower,
                                  options.upper,
                                  options.num_points);
  return {grid.sigma(), grid.points(), grid.density(measure.nodes, measure.weights)};
}

LogSpectralDensity log_spectral_density(const SpectralMeasure& measure,
                                        double zero_band,
                                        const LogDensityOptions& options) {
  detail::require_measure("log_spectral_density", measure);
  if (!(zero_band >= 0.0 && std::isfinite(zero_band))) {
    throw PreconditionError(fmt::format(
        "log_spectral_density: zero_band must be finite and not negative, got {}", zero_band));
  }
  const OneSign negative = one_sign(measure, -1.0, zero_band);
  const OneSign positive = one_sign(measure, 1.0, zero_band);
  double smallest = kInfinity;
  double largest = -smallest;
  for (const OneSign* part : {&negative, &positive}) {
    for (const double magnitude : part->log10_magnitudes) {
      smallest = std::min(smallest, magnitude);
      largest = std::max(largest, magnitude);
    }
  }
  if (smallest > largest) smallest = largest = 0.0;
  const detail::GaussianGrid grid("log_spectral_density",
                                  options.sigma,
                                  smallest,
                                  largest,
                                  options.lower,
                                  options.upper,
                                  options.num_points);
  LogSpectralDensity result;
  result.sigma = grid.sigma();
  result.log10_magnitude = grid.points();
  result.negative = grid.density(negative.log10_magnitudes, negative.weights);
  result.positive = grid.density(positive.log10_magnitudes, positive.weights);
  result.negative_mass = negative.weights.sum();
  result.positive_mass = positive.weights.sum();
  result.zero_mass = (measure.nodes.array().abs() <= zero_band).select(measure.weights, 0.0).sum();
  return result;
}

}  // namespace hesscope
