// SPDX-License-Identifier: BSD-3-Clause
//
// The spectral figures of one matrix, and how far the numbers on which they are based are separated
// from others of their kind.
#pragma once

#include <array>

#include <Eigen/Core>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope::detail {

/// A number in an ordered list, and its distance to the next one on either side, ignoring those
/// that equal it within rounding; 0 if there is none.
struct RankedNumber {
  double value = kNaN;
  double gap_below = kNaN;
  double gap_above = kNaN;
};

/// The numbers on which figures are based.
enum Ranked : std::size_t {
  kRankedLargest,           ///< eigenvalue
  kRankedSmallest,          ///< eigenvalue
  kRankedMedian,            ///< lower median eigenvalue
  kRankedLargestMagnitude,  ///< of an eigenvalue
  kRankedMedianMagnitude,   ///< lower median over the eigenvalues
  kRankedLargestDiagonal,   ///< magnitude of an entry of the diagonal
  kRankedMedianDiagonal,    ///< lower median of these magnitudes
  kNumRanked,
};

/// In the order of SpectralFigure; NaN without kOk.
struct FigureRow : std::array<Statistic, kSpectralFigureNames.size()> {
  double rounding_band = kNaN;  ///< of the matrix: eigenvalues up to it are zero
  std::array<RankedNumber, kNumRanked> ranked = {};  ///< NaN in first order
};

/// The same status for all figures.
FigureRow no_figures(Status status);

/// From the diagonal and the spectrum of one matrix.
FigureRow spectral_figures(const Eigen::Ref<const Eigen::VectorXd>& diagonal,
                           const Spectrum& spectrum);

/// Whether an eigenvalue, or the numerator of a ratio, is zero within rounding and therefore mere
/// noise.
bool is_rounding_noise(SpectralFigure figure, const FigureRow& row);

}  // namespace hesscope::detail
