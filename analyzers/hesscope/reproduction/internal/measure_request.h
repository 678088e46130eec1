// SPDX-License-Identifier: BSD-3-Clause
//
// A [[measure]] of a run, as an analysis request.
#pragma once

#include <hesscope/analysis/analysis.h>
#include <hesscope/reproduction/internal/experiment_document.h>
#include <hesscope/reproduction/internal/experiment_results.h>

namespace hesscope::detail {

/// The measure's request, with its output in the run's folder; without checkpoints if none of those
/// that it needs exists. Threads, stop, share and overwrite are left to the caller. If the measure
/// uses other samples than the training's evaluation, writes a problem file for it,
/// problem-NAME.toml. @throws OutputError.
AnalysisRequest measure_request(const ExperimentDocument& document,
                                const ExperimentMeasure& measure,
                                const TrainedRun& run);

}  // namespace hesscope::detail
