// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

Statistic ratio(double numerator, double denominator, bool defined, Status otherwise) {
  return defined ? finite_statistic(numerator / denominator) : missing_statistic(otherwise);
}

// If a spectrum does not tell its n, the size is not checked.
void require_diagonal(Eigen::Index size, const Spectrum& spectrum) {
  const Eigen::Index n = spectrum.eigenvalues.size();
  if (size == 0) throw PreconditionError("condition_numbers: the diagonal is empty");
  if (n == 0 || size == n) return;
  throw PreconditionError(fmt::format(
      "condition_numbers: the diagonal must have {} entries, as there are eigenvalues, got {}",
      n,
      size));
}

}  // namespace

Statistic robust_ratio(double largest, double median, double rounding_band) {
  return ratio(largest, median, std::abs(median) > rounding_band, Status::kUndefinedZeroMedian);
}

ConditionNumbers condition_numbers(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                                   const Spectrum& spectrum) {
  if (spectrum.status != Status::kOk) {
    const Statistic none = missing_statistic(spectrum.status);
    return {none, none, none, none};
  }
  require_diagonal(diagonal.size(), spectrum);
  const double band = spectrum.rounding_band;
  const double largest_magnitude = spectrum.norm();
  return {
      robust_ratio(diagonal.cwiseAbs().maxCoeff(), lower_median(diagonal.cwiseAbs()), band),
      robust_ratio(spectrum.largest.value, spectrum.median.value, band),
      robust_ratio(largest_magnitude, spectrum.median_magnitude, band),
      ratio(spectrum.largest.value,
            spectrum.smallest.value,
            spectrum.smallest.value > band,
            Status::kUndefinedNotPositiveDefinite),
  };
}

}  // namespace hesscope
