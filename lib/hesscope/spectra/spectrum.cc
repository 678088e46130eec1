// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <hesscope/core/constants.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/spectrum_of_values.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/statistics/internal/centered.h>

namespace hesscope {
namespace {

Eigen::Index lower_median_rank(Eigen::Index n) { return (n - 1) / 2; }

Spectrum with_status(Status status) {
  Spectrum spectrum;
  spectrum.status = status;
  return spectrum;
}

}  // namespace

namespace detail {

Spectrum spectrum_of_values(const Eigen::VectorXd& scaled, int exponent, double least_band) {
  Eigen::VectorXd values = scaled_back(scaled, exponent);
  if (!values.allFinite()) return with_status(Status::kNonFinite);
  Spectrum spectrum;
  const Eigen::Index n = values.size();
  spectrum.smallest.value = values[0];
  spectrum.median.value = values[lower_median_rank(n)];
  spectrum.largest.value = values[n - 1];
  const double scaled_norm = std::max(std::abs(scaled[0]), std::abs(scaled[n - 1]));
  const double scaled_band = rounding_band(n, scaled_norm);
  spectrum.rounding_band = std::max(scaled_up(scaled_band, exponent), least_band);
  spectrum.median_magnitude = lower_median(values.cwiseAbs());
  // Counted before values and band are rounded to subnormal numbers.
  spectrum.num_negative = (scaled.array() < -scaled_band && values.array() < -least_band).count();
  spectrum.num_positive = (scaled.array() > scaled_band && values.array() > least_band).count();
  spectrum.num_zero = n - spectrum.num_negative - spectrum.num_positive;
  spectrum.eigenvalues = std::move(values);
  spectrum.status = Status::kOk;
  spectrum.proof = Proof::kDense;
  return spectrum;
}

}  // namespace detail

Spectrum dense_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                        const ProgressCallback& progress,
                        double least_band) {
  detail::require_symmetric_shape("dense_spectrum", hessian);
  const Eigen::Index n = hessian.rows();
  const detail::Survey found = detail::survey_symmetric("dense_spectrum", hessian);
  if (!found.is_finite) return with_status(Status::kNonFinite);

  const detail::SingleThreadedBlas one_thread;
  const int exponent = found.exponent();
  const double reduced = detail::share_of_reduction(n);
  detail::TridiagonalForm form(detail::scaled_copy(hessian, exponent),
                               detail::TridiagonalForm::kTwoStages,
                               detail::part_of(progress, 0.0, reduced));
  const std::optional<Eigen::VectorXd> values = detail::eigenvalues(form.t());
  if (!values || !values->allFinite()) return with_status(Status::kFailed);
  Spectrum spectrum = detail::spectrum_of_values(*values, exponent, least_band);
  spectrum.num_dead = found.num_dead;
  if (spectrum.status != Status::kOk) return spectrum;

  const auto residual = [&](Eigen::Index rank) {
    const double value = (*values)[rank];
    const std::optional<Eigen::VectorXd> v = form.eigenvector(rank, value);
    return v ? std::ldexp(form.residual(*v, value), exponent) : kNaN;
  };
  const ProgressCallback rest = detail::part_of(progress, reduced, 1.0);
  detail::report(rest, 0.5);
  spectrum.smallest.residual = residual(0);
  detail::report(rest, 0.65);
  spectrum.median.residual = residual(lower_median_rank(n));
  detail::report(rest, 0.8);
  spectrum.largest.residual = residual(n - 1);
  return spectrum;
}

double Spectrum::norm() const {
  // Not std::max alone, which returns its first argument if the second is NaN.
  const double below = std::abs(smallest.value);
  const double above = std::abs(largest.value);
  return std::isnan(above) ? kNaN : std::max(below, above);
}

double lower_median(const Eigen::Ref<const Eigen::VectorXd>& values) {
  if (values.size() == 0 || !values.allFinite()) return kNaN;
  return detail::lower_median_of(values);
}

}  // namespace hesscope
