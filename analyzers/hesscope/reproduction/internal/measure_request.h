// SPDX-License-Identifier: BSD-3-Clause
//
// A [[measure]] of a run, as an analysis.
#pragma once

#include <hesscope/analysis/analysis.h>
#include <hesscope/reproduction/internal/experiment_document.h>
#include <hesscope/reproduction/internal/experiment_results.h>

namespace hesscope::detail {

/// What the measure asks for, into the run's folder; without checkpoints where none of its is
/// there. Threads, stop, share and what may be replaced are left to the caller.
/// Writes a problem of its own, problem-NAME.toml, where the measure is of other samples than the
/// training's evaluation. @throws OutputError.
AnalysisRequest measure_request(const ExperimentDocument& document,
                                const ExperimentMeasure& measure,
                                const TrainedRun& run);

}  // namespace hesscope::detail
