// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/counted_spectrum.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope {
namespace {

// How near to zero counts are valid: every matrix except zero is scaled before it is counted.
double nearest_to_zero(const detail::Survey& found) {
  using Limits = std::numeric_limits<double>;
  return found.largest_magnitude > 0.0 ? Limits::denorm_min() : 16 * Limits::min();
}

// Eigenvalues lambda <= x.
std::int64_t num_up_to(const EigenvalueCounter& counter, double x) {
  return counter.num_below(std::nextafter(x, kInfinity));
}

// The lower median of |lambda|, by bisection until no double is in between. Zero, like an
// eigenvalue of the counter, if it cannot be distinguished from zero.
double median_magnitude(const EigenvalueCounter& counter, double norm, double nearest) {
  const std::int64_t wanted = (counter.size() - 1) / 2 + 1;
  const auto num_within = [&](double x) { return num_up_to(counter, x) - counter.num_below(-x); };
  if (num_within(std::max(nearest, kEpsilon * norm)) >= wanted) {
    return 0.0;
  }
  double lower = 0.0;
  double upper = norm;
  while (true) {
    const double middle = lower + (upper - lower) / 2;
    if (!(lower < middle && middle < upper)) return upper;
    (num_within(middle) >= wanted ? upper : lower) = middle;
  }
}

}  // namespace

Spectrum counted_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                          const ProgressCallback& progress,
                          double least_band) {
  EigenvalueCounter counter(hessian, progress);
  Spectrum spectrum;
  spectrum.status = counter.status();
  if (spectrum.status != Status::kOk) return spectrum;
  const Eigen::Index n = counter.size();
  const auto of_rank = [&](Eigen::Index rank) {
    const RankedEigenvalue found = counter.eigenvalue(rank);
    if (found.status != Status::kOk) spectrum.status = found.status;
    return found.eigenvalue;
  };
  spectrum.smallest = of_rank(0);
  spectrum.median = of_rank((n - 1) / 2);
  spectrum.largest = of_rank(n - 1);
  if (spectrum.status != Status::kOk) {
    Spectrum none;
    none.status = spectrum.status;
    return none;
  }

  const detail::Survey found = detail::survey(hessian);
  const double nearest = nearest_to_zero(found);
  // May round to zero for subnormal matrices.
  const double band =
      std::max({counter.rounding_band(), least_band, std::numeric_limits<double>::denorm_min()});
  const double norm = spectrum.norm();
  spectrum.rounding_band = band;
  spectrum.num_negative = counter.num_below(-std::max(nearest, band));
  spectrum.num_positive = n - num_up_to(counter, std::max(nearest, band));
  spectrum.num_zero = n - spectrum.num_negative - spectrum.num_positive;
  spectrum.num_dead = found.num_dead;
  spectrum.median_magnitude = median_magnitude(counter, norm, nearest);
  spectrum.proof = Proof::kCounted;
  return spectrum;
}

}  // namespace hesscope
