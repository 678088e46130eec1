// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/internal/figure_row.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// For ascending numbers that are each known to within `band`.
RankedNumber ranked_number(const VectorXd& ascending, Index rank, double band) {
  RankedNumber found{ascending[rank], 0.0, 0.0};
  const auto gap = [&](Index other) { return std::abs(ascending[other] - found.value); };
  for (Index below = rank - 1; below >= 0 && found.gap_below == 0.0; --below) {
    if (gap(below) > 2.0 * band) found.gap_below = gap(below);
  }
  for (Index above = rank + 1; above < ascending.size() && found.gap_above == 0.0; ++above) {
    if (gap(above) > 2.0 * band) found.gap_above = gap(above);
  }
  return found;
}

VectorXd ascending_magnitudes(const Eigen::Ref<const VectorXd>& numbers) {
  VectorXd magnitudes = numbers.cwiseAbs();
  std::ranges::sort(magnitudes);
  return magnitudes;
}

std::array<RankedNumber, kNumRanked> ranked_numbers(const Eigen::Ref<const VectorXd>& diagonal,
                                                    const Spectrum& spectrum) {
  const VectorXd& eigenvalues = spectrum.eigenvalues;
  const VectorXd magnitudes = ascending_magnitudes(eigenvalues);
  const VectorXd entries = ascending_magnitudes(diagonal);
  const Index last = eigenvalues.size() - 1;
  const Index middle = last / 2;
  const double band = spectrum.rounding_band;
  std::array<RankedNumber, kNumRanked> all;
  all[kRankedLargest] = ranked_number(eigenvalues, last, band);
  all[kRankedSmallest] = ranked_number(eigenvalues, 0, band);
  all[kRankedMedian] = ranked_number(eigenvalues, middle, band);
  all[kRankedLargestMagnitude] = ranked_number(magnitudes, last, band);
  all[kRankedMedianMagnitude] = ranked_number(magnitudes, middle, band);
  all[kRankedLargestDiagonal] = ranked_number(entries, last, band);
  all[kRankedMedianDiagonal] = ranked_number(entries, middle, band);
  return all;
}

}  // namespace

FigureRow no_figures(Status status) {
  FigureRow row;
  row.fill(missing_statistic(status));
  return row;
}

FigureRow spectral_figures(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                           const Spectrum& spectrum) {
  if (spectrum.status != Status::kOk) return no_figures(spectrum.status);
  const ConditionNumbers numbers = condition_numbers(diagonal, spectrum);
  FigureRow row;
  row[index_of(SpectralFigure::kLambdaMax)] = {spectrum.largest.value, Status::kOk};
  row[index_of(SpectralFigure::kLambdaMin)] = {spectrum.smallest.value, Status::kOk};
  row[index_of(SpectralFigure::kLambdaMedian)] = {spectrum.median.value, Status::kOk};
  row[index_of(SpectralFigure::kMedianMagnitude)] = {spectrum.median_magnitude, Status::kOk};
  row[index_of(SpectralFigure::kRobustEigenvalue)] = numbers.robust_eigenvalue;
  row[index_of(SpectralFigure::kRobustAbsolute)] = numbers.robust_absolute;
  row[index_of(SpectralFigure::kRobustDiagonal)] = numbers.robust_diagonal;
  row.rounding_band = spectrum.rounding_band;
  row.ranked = ranked_numbers(diagonal, spectrum);
  return row;
}

bool is_rounding_noise(SpectralFigure figure, const FigureRow& row) {
  switch (figure) {
    case SpectralFigure::kLambdaMax:
    case SpectralFigure::kLambdaMin:
    case SpectralFigure::kLambdaMedian:
    case SpectralFigure::kMedianMagnitude:
      return std::abs(row[index_of(figure)].value) <= row.rounding_band;
    case SpectralFigure::kRobustEigenvalue:
      return is_rounding_noise(SpectralFigure::kLambdaMax, row);
    default:
      return false;
  }
}

}  // namespace hesscope::detail
