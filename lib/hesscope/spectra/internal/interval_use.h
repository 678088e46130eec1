// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the jackknife's interval of a spectral figure can be used.
//
// The jackknife holds for what is smooth in H. An eigenvalue, or an entry of the diagonal by its
// rank, is not where another one is within its error: samples then exchange the two, and move the
// outermost of a crowd outwards. Two things tell of that: the bias, which sums up what all others
// do, and the distance to the next one with its own standard error. Copies that equal one another
// within rounding, in every block, are no crowd: nothing moves them apart.
#pragma once

#include <vector>

#include <hesscope/objective/objective.h>
#include <hesscope/spectra/internal/figure_row.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope::detail {

/// By the rule of IntervalUse.
/// @param  value          of all samples, with ranked numbers.
/// @param  leave_one_out  the same without each block.
/// @param  error          of the figure, by the full jackknife.
IntervalUse interval_use(SpectralFigure figure,
                         const FigureRow& value,
                         const std::vector<FigureRow>& leave_one_out,
                         const std::vector<SampleRange>& blocks,
                         const SamplingError& error);

}  // namespace hesscope::detail
