// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_inputs.h>

namespace hesscope::detail {

/// The summary and warnings of the existing output of this request, the same as when it was made.
/// @throws InputError if it cannot be read.
AnalysisResult read_analysis(const AnalysisRequest& request, const AnalysisInputs& inputs);

}  // namespace hesscope::detail
