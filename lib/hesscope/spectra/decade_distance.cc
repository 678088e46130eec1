// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/decade_distance.h>
#include <hesscope/spectra/distribution_distance.h>

namespace hesscope {
namespace {

using Eigen::Index;

// (sign, decades below the largest); (0, 0) for zero.
using Class = std::pair<int, int>;

void require_banded(const BandedEigenvalues& spectrum, std::size_t place) {
  if (spectrum.eigenvalues.size() == 0 || !spectrum.eigenvalues.allFinite()) {
    throw PreconditionError(
        fmt::format("decade_distances: spectrum {} must have at least one eigenvalue, and finite "
                    "ones only",
                    place));
  }
  if (!(spectrum.zero_band >= 0)) {
    throw PreconditionError(
        fmt::format("decade_distances: the zero_band of spectrum {} must be at "
                    "least 0, got {}",
                    place,
                    spectrum.zero_band));
  }
}

// Uses logarithms, whose difference neither overflows nor underflows. It has an error of 1e-13,
// which must not move exact powers of ten below the largest into the next higher decade.
Class class_of(double eigenvalue, double zero_band, double log_largest) {
  const double magnitude = std::abs(eigenvalue);
  if (magnitude <= zero_band || magnitude == 0) return {0, 0};
  constexpr double kSlack = 1e-12;
  const int decades = static_cast<int>(std::floor(log_largest - std::log10(magnitude) + kSlack));
  return {eigenvalue > 0 ? 1 : -1, std::max(decades, 0)};
}

}  // namespace

Eigen::MatrixXd decade_distances(std::span<const BandedEigenvalues> spectra) {
  double largest = 0;
  for (std::size_t s = 0; s < spectra.size(); ++s) {
    require_banded(spectra[s], s);
    largest = std::max(largest, spectra[s].eigenvalues.cwiseAbs().maxCoeff());
  }
  const double log_largest = std::log10(largest);
  std::map<Class, Index> places;
  std::vector<std::map<Class, Index>> counts(spectra.size());
  for (std::size_t s = 0; s < spectra.size(); ++s) {
    for (const double eigenvalue : spectra[s].eigenvalues) {
      const Class found = class_of(eigenvalue, spectra[s].zero_band, log_largest);
      places.emplace(found, 0);
      ++counts[s][found];
    }
  }
  Index num_classes = 0;
  for (auto& [key, place] : places) place = num_classes++;
  const auto count = static_cast<Index>(spectra.size());
  Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(num_classes, count);
  for (Index s = 0; s < count; ++s) {
    const auto at = static_cast<std::size_t>(s);
    const auto size = static_cast<double>(spectra[at].eigenvalues.size());
    for (const auto& [key, number] : counts[at]) {
      shares(places.at(key), s) = static_cast<double>(number) / size;
    }
  }
  Eigen::MatrixXd distances = Eigen::MatrixXd::Zero(count, count);
  for (Index a = 0; a < count; ++a) {
    for (Index b = 0; b < a; ++b) {
      distances(a, b) = distances(b, a) = jensen_shannon_distance(shares.col(a), shares.col(b));
    }
  }
  return distances;
}

}  // namespace hesscope
