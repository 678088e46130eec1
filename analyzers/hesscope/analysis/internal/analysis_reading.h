// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_inputs.h>

namespace hesscope::detail {

/// The same summary and warnings as when the output of this request, which is there, was made.
/// @throws InputError if it cannot be read.
AnalysisResult read_analysis(const AnalysisRequest& request, const AnalysisInputs& inputs);

}  // namespace hesscope::detail
