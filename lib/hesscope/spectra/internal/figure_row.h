// SPDX-License-Identifier: BSD-3-Clause
//
// The spectral figures of one matrix, and how far the numbers that they are made of stand apart
// from the others of their kind.
#pragma once

#include <array>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope::detail {

/// A number of an ordered list, and how far it is from the next one on either side, from those
/// apart that equal it within rounding; 0 where there is none.
struct RankedNumber {
  double value = kNaN;
  double gap_below = kNaN;
  double gap_above = kNaN;
};

/// What figures are made of.
enum Ranked : std::size_t {
  kRankedLargest,           ///< eigenvalue
  kRankedSmallest,          ///< eigenvalue
  kRankedMedian,            ///< lower median eigenvalue
  kRankedLargestMagnitude,  ///< of the eigenvalues
  kRankedMedianMagnitude,   ///< of the eigenvalues, the lower median
  kRankedLargestDiagonal,   ///< magnitude of an entry of the diagonal
  kRankedMedianDiagonal,    ///< of these magnitudes the lower median
  kNumRanked,
};

/// In the order of SpectralFigure; NaN without kOk.
struct FigureRow : std::array<Statistic, kSpectralFigureNames.size()> {
  double rounding_band = kNaN;  ///< of the matrix: eigenvalues up to it are zero
  std::array<RankedNumber, kNumRanked> ranked = {};  ///< NaN in first order
};

/// The same status for all.
FigureRow no_figures(Status status);

/// From the diagonal and the spectrum of one matrix.
FigureRow spectral_figures(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                           const Spectrum& spectrum);

/// An eigenvalue, or the numerator of a ratio, that is zero within rounding: what is left of it is
/// noise.
bool is_rounding_noise(SpectralFigure figure, const FigureRow& row);

}  // namespace hesscope::detail
