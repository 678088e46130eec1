// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_inputs.h>

namespace hesscope::detail {

/// Reads the summary and warnings of the existing output, the same as when it was made.
/// @throws InputError if it cannot be read.
void read_analysis(const AnalysisRequest& request,
                   const AnalysisInputs& inputs,
                   AnalysisResult& result);

}  // namespace hesscope::detail
