// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of an analysis, opened and checked against each other.
#pragma once

#include <vector>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

struct AnalysisInputs : CheckpointInputs {
  std::vector<ChosenAnalyzer> analyzers;  ///< in the registry's order
  bool proves_fully = false;              ///< an analyzer wants the proof of all eigenvalues

  /// Everything that a result depends on.
  io::RunConfiguration configuration(const AnalysisRequest& request) const;
};

/// Opens everything and checks that the analyzers can have what they need. @throws ConfigError,
/// InputError, PreconditionError.
AnalysisInputs open_inputs(const AnalysisRequest& request);

}  // namespace hesscope::detail
