// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/dataset/dataset.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope::detail {

/// NAME_interval, the flag that says whether the interval NAME_lower .. NAME_upper of a spectral
/// figure can be used: an IntervalUse. Without dimensions and values.
Variable interval_flag(SpectralFigure figure);

}  // namespace hesscope::detail
