// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/internal/first_order_figures.h>
#include <hesscope/spectra/internal/scaled_matrix.h>

namespace hesscope::detail {
namespace {

constexpr Statistic kUnknown;

enum Probe : Eigen::Index {
  kLargest,
  kSmallest,
  kMedian,
  kMedianMagnitude,
  kLargestDiagonal,
  kMedianDiagonal,
};

constexpr Eigen::Index kNumEigenpairs = kLargestDiagonal;

// The magnitude of x near `reference`, continued through zero.
double along(double reference, double x) { return reference < 0.0 ? -x : x; }

}  // namespace

FirstOrderFigures::FirstOrderFigures(const SpectralEigenpairs& eigenpairs,
                                     Eigen::Index num_parameters)
    : num_parameters_(num_parameters), values_(Forms::Constant(kNaN)) {
  columns_.fill(-1);
  const std::array<const Eigenpair*, kNumEigenpairs> pairs = {
      &eigenpairs.largest,
      &eigenpairs.smallest,
      &eigenpairs.median,
      &eigenpairs.median_magnitude,
  };
  vectors_.resize(num_parameters, kNumEigenpairs);
  Eigen::Index num_known = 0;
  for (Eigen::Index probe = 0; probe < kNumEigenpairs; ++probe) {
    const Eigenpair& pair = *pairs[static_cast<std::size_t>(probe)];
    if (pair.vector.size() == 0) continue;
    values_[probe] = pair.value;
    vectors_.col(num_known) = pair.vector;
    columns_[static_cast<std::size_t>(probe)] = num_known++;
  }
  vectors_.conservativeResize(Eigen::NoChange, num_known);
}

void FirstOrderFigures::set_diagonal(const Eigen::Ref<const Eigen::VectorXd>& diagonal) {
  const Eigen::VectorXd magnitudes = diagonal.cwiseAbs();
  Eigen::Index largest = 0;
  magnitudes.maxCoeff(&largest);
  const auto* const median =
      std::find(magnitudes.data(), magnitudes.data() + magnitudes.size(), lower_median(magnitudes));
  columns_[kLargestDiagonal] = largest;
  columns_[kMedianDiagonal] = median - magnitudes.data();
  values_[kLargestDiagonal] = diagonal[largest];
  values_[kMedianDiagonal] = diagonal[columns_[kMedianDiagonal]];
}

FirstOrderFigures::Forms FirstOrderFigures::forms(
    const Eigen::Ref<const Eigen::MatrixXd>& product,
    const Eigen::Ref<const Eigen::VectorXd>& diagonal) const {
  Forms result = Forms::Constant(kNaN);
  for (Eigen::Index probe = 0; probe < kNumProbes; ++probe) {
    const Eigen::Index column = columns_[static_cast<std::size_t>(probe)];
    if (column < 0) continue;
    if (probe < kNumEigenpairs) {
      result[probe] = vectors_.col(column).dot(product.col(column));
    } else if (diagonal.size() > 0) {
      result[probe] = diagonal[column];
    }
  }
  return result;
}

FigureRow FirstOrderFigures::at(const Forms& change, double band) const {
  const Eigen::Index outermost =
      std::abs(values_[kSmallest]) > std::abs(values_[kLargest]) ? kSmallest : kLargest;
  const bool are_ends_known = columns_[kLargest] >= 0 && columns_[kSmallest] >= 0;
  const Statistic largest = moved(kLargest, change);
  const Statistic largest_magnitude =
      are_ends_known ? moved_magnitude(outermost, change) : kUnknown;
  const Statistic median = moved(kMedian, change);
  const Statistic median_magnitude = moved_magnitude(kMedianMagnitude, change);
  FigureRow row;
  row[index_of(SpectralFigure::kLambdaMax)] = largest;
  row[index_of(SpectralFigure::kLambdaMin)] = moved(kSmallest, change);
  row[index_of(SpectralFigure::kLambdaMedian)] = median;
  row[index_of(SpectralFigure::kMedianMagnitude)] = median_magnitude;
  row[index_of(SpectralFigure::kRobustEigenvalue)] = ratio(largest, median, values_[kMedian], band);
  row[index_of(SpectralFigure::kRobustAbsolute)] =
      ratio(largest_magnitude, median_magnitude, std::abs(values_[kMedianMagnitude]), band);
  row[index_of(SpectralFigure::kRobustDiagonal)] = ratio(moved_magnitude(kLargestDiagonal, change),
                                                         moved_magnitude(kMedianDiagonal, change),
                                                         std::abs(values_[kMedianDiagonal]),
                                                         band);
  row.rounding_band = band;
  return row;
}

Statistic FirstOrderFigures::moved(Eigen::Index probe, const Forms& change) const {
  if (columns_[static_cast<std::size_t>(probe)] < 0) return kUnknown;
  return finite_statistic(values_[probe] + change[probe]);
}

Statistic FirstOrderFigures::moved_magnitude(Eigen::Index probe, const Forms& change) const {
  const Statistic value = moved(probe, change);
  return {along(values_[probe], value.value), value.status};
}

Statistic FirstOrderFigures::ratio(const Statistic& largest,
                                   const Statistic& median,
                                   double median_of_h,
                                   double band) {
  if (largest.status != Status::kOk) return missing_statistic(largest.status);
  if (median.status != Status::kOk) return missing_statistic(median.status);
  if (std::signbit(median.value) != std::signbit(median_of_h)) {
    return missing_statistic(Status::kUndefinedZeroMedian);
  }
  return robust_ratio(largest.value, median.value, band);
}

FigureRow FirstOrderFigures::at_zero() const {
  return at(Forms::Zero(), rounding_band(num_parameters_, norm()));
}

double FirstOrderFigures::norm() const { return largest_magnitude(values_); }

double FirstOrderFigures::largest_magnitude(const Forms& forms) {
  double largest = 0.0;
  for (Eigen::Index probe = 0; probe < kNumEigenpairs; ++probe) {
    if (std::abs(forms[probe]) > largest) largest = std::abs(forms[probe]);
  }
  return largest;
}

}  // namespace hesscope::detail
