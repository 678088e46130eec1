// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/core/progress.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/internal/band_reduction.h>
#include <hesscope/spectra/internal/cost_probes.h>
#include <hesscope/spectra/internal/tridiagonal_form.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Up to this size, the decomposition itself is measured; the stages of larger ones are measured at
// this size.
constexpr Index kSmall = 1024;
// Size of a matrix whose first panels show how fast large ones are reduced.
constexpr Index kLarge = 3072;

// The time of a whole reduction, which grows as n^3, from its first panels.
template <typename Reduce>
double seconds_by_first_panels(Index n, SecondsClock clock, Reduce reduce) {
  MatrixXd a = detail::some_matrix(n);
  double fraction = 0.0;
  const double seconds = detail::seconds_of(clock, [&] {
    try {
      reduce(a, [&](double done) {
        fraction = done;
        return done < 0.03;
      });
    } catch (const Interrupted&) {  // measured long enough
    }
  });
  return seconds / fraction;
}

// The time of a reduction of n rows, from a complete one of `small` < n rows that took `seconds`.
// Two thirds of the work is on more than 0.7 n rows, which do not fit into the cache as the small
// matrix does.
template <typename Reduce>
double seconds_of_reduction(
    Index n, Index small, double seconds, SecondsClock clock, Reduce reduce) {
  const auto scaled = [n](double of_m, Index m) {
    return of_m * std::pow(static_cast<double>(n) / static_cast<double>(m), 3);
  };
  const Index large = std::min(n, kLarge);
  return (scaled(seconds, small) +
          2.0 * scaled(seconds_by_first_panels(large, clock, reduce), large)) /
         3.0;
}

double seconds_from_stages(Index n, SecondsClock clock) {
  const detail::SingleThreadedBlas one_thread;
  const double growth = std::pow(static_cast<double>(n) / static_cast<double>(kSmall), 2);
  detail::Tridiagonal t;
  double seconds = 0.0;
  MatrixXd a = detail::some_matrix(kSmall);
  if (n < detail::TridiagonalForm::kTwoStages) {
    const auto reduce = [&](MatrixXd& matrix, const ProgressCallback& progress) {
      t = detail::tridiagonalize(matrix, progress).t;
    };
    const double small = detail::seconds_of(clock, [&] { reduce(a, {}); });
    const detail::Tridiagonal of_small = t;
    seconds += seconds_of_reduction(n, kSmall, small, clock, reduce);
    t = of_small;
  } else {
    detail::BandReduction band;
    const auto reduce = [&](MatrixXd& matrix, const ProgressCallback& progress) {
      band = detail::reduce_to_band(matrix, progress);
    };
    const double small = detail::seconds_of(clock, [&] { reduce(a, {}); });
    seconds += growth * detail::seconds_of(clock, [&] { t = detail::tridiagonalize(band); });
    seconds += seconds_of_reduction(n, kSmall, small, clock, reduce);
  }
  return seconds + growth * detail::seconds_of(clock, [&] { detail::eigenvalues(t); });
}

// Seconds of the stages at the rates of one core of an AMD EPYC (Zen 5) with OpenBLAS.
double nominal_band_reduction(double n) { return 5e-11 * n * n * n; }

double nominal_chase(double n) { return 6.7e-8 * n * n; }

double nominal_reduction(double n) {
  return n < detail::TridiagonalForm::kTwoStages ? 1e-10 * n * n * n
                                                 : nominal_band_reduction(n) + nominal_chase(n);
}

// Eigenvalues, and three eigenvectors with their residuals.
double nominal_rest(double n) { return 2.4e-8 * n * n; }

}  // namespace

double estimate_decomposition_seconds(Index n, SecondsClock clock) {
  if (n > kSmall) return seconds_from_stages(n, clock);
  const MatrixXd a = detail::some_matrix(n);
  return detail::seconds_of(clock, [&] { dense_spectrum(a); });
}

namespace detail {

double seconds_of_reduction_operation(SecondsClock clock) {
  const SingleThreadedBlas one_thread;
  const auto n = static_cast<double>(kLarge);
  const double seconds = seconds_by_first_panels(
      kLarge, clock, [](MatrixXd& matrix, const ProgressCallback& progress) {
        tridiagonalize(matrix, progress);
      });
  return seconds / (4.0 / 3.0 * n * n * n);
}

double share_of_reduction(Index n) {
  const double reduction = nominal_reduction(static_cast<double>(n));
  return reduction / (reduction + nominal_rest(static_cast<double>(n)));
}

double share_of_band_reduction(Index n) {
  return nominal_band_reduction(static_cast<double>(n)) / nominal_reduction(static_cast<double>(n));
}

}  // namespace detail
}  // namespace hesscope
