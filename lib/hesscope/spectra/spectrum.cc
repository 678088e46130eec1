// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/internal/lapack.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {
namespace {

Eigen::Index lower_median_rank(Eigen::Index n) { return (n - 1) / 2; }

void count_signs(Spectrum& spectrum) {
  const auto& values = spectrum.eigenvalues;
  const double band = spectrum.rounding_band;
  spectrum.num_negative = (values.array() < -band).count();
  spectrum.num_positive = (values.array() > band).count();
  spectrum.num_zero = values.size() - spectrum.num_negative - spectrum.num_positive;
}

}  // namespace

Spectrum dense_spectrum(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                        const ProgressCallback& progress) {
  detail::require_symmetric_shape("dense_spectrum", hessian);
  const Eigen::Index n = hessian.rows();
  Spectrum spectrum;
  const detail::Survey found = detail::survey_symmetric("dense_spectrum", hessian);
  if (!found.is_finite) {
    spectrum.status = Status::kNonFinite;
    return spectrum;
  }
  spectrum.num_dead = found.num_dead;

  const detail::SingleThreadedBlas one_thread;
  const int exponent = found.exponent();
  const double reduced = detail::share_of_reduction(n);
  detail::TridiagonalForm form(detail::scaled_copy(hessian, exponent),
                               detail::TridiagonalForm::kTwoStages,
                               detail::part_of(progress, 0.0, reduced));
  const std::optional<Eigen::VectorXd> values = detail::eigenvalues(form.t());
  if (!values || !values->allFinite()) {
    spectrum.status = Status::kFailed;
    return spectrum;
  }
  Eigen::VectorXd eigenvalues = detail::scaled_back(*values, exponent);
  if (!eigenvalues.allFinite()) {
    spectrum.status = Status::kNonFinite;
    return spectrum;
  }

  const auto established = [&](Eigen::Index rank) {
    const double value = (*values)[rank];
    const std::optional<Eigen::VectorXd> v = form.eigenvector(rank, value);
    return Eigenvalue{eigenvalues[rank], v ? std::ldexp(form.residual(*v, value), exponent) : kNaN};
  };
  const ProgressCallback rest = detail::part_of(progress, reduced, 1.0);
  detail::report(rest, 0.5);
  spectrum.smallest = established(0);
  detail::report(rest, 0.65);
  spectrum.median = established(lower_median_rank(n));
  detail::report(rest, 0.8);
  spectrum.largest = established(n - 1);

  const double scaled_norm = std::max(std::abs((*values)[0]), std::abs((*values)[n - 1]));
  const double scaled_band = detail::rounding_band(n, scaled_norm);
  spectrum.rounding_band = std::ldexp(scaled_band, exponent);
  spectrum.median_magnitude = lower_median(eigenvalues.cwiseAbs());
  spectrum.eigenvalues = std::move(eigenvalues);
  count_signs(spectrum);
  spectrum.status = Status::kOk;
  spectrum.proof = Proof::kDense;
  return spectrum;
}

double lower_median(const Eigen::Ref<const Eigen::VectorXd>& values) {
  if (values.size() == 0 || !values.allFinite()) return kNaN;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + lower_median_rank(values.size());
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace hesscope
