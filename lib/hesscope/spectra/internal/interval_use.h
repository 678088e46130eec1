// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the jackknife's interval of a spectral figure can be used.
//
// The jackknife is valid for smooth functions of H. An eigenvalue of given rank, or a diagonal
// entry of given rank, is not smooth if another one is within its error: samples then exchange the
// two, and move the outermost of a crowd outwards. Two indicators show this: the bias, which sums
// up the effect of all others, and the distance to the next one compared with its own standard
// error. Copies that are equal within rounding, in every block, are not a crowd: nothing separates
// them.
#pragma once

#include <vector>

#include <hesscope/objective/objective.h>
#include <hesscope/spectra/internal/figure_row.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope::detail {

/// Applies the rule of IntervalUse.
/// @param  value          for all samples, with ranked numbers.
/// @param  leave_one_out  the same without each block.
/// @param  error          of the figure, by the full jackknife.
IntervalUse interval_use(SpectralFigure figure,
                         const FigureRow& value,
                         const std::vector<FigureRow>& leave_one_out,
                         const std::vector<SampleRange>& blocks,
                         const SamplingError& error);

}  // namespace hesscope::detail
