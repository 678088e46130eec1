// SPDX-License-Identifier: BSD-3-Clause
//
// What an analysis works on: its inputs, opened and checked against each other. Private to the
// analyzers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/checkpoint_inputs.h>
#include <hesscope/io/unit_folder.h>

namespace hesscope::detail {

struct ChosenAnalyzer {
  std::string name;
  Settings settings;
  std::unique_ptr<Analyzer> analyzer;
};

struct AnalysisInputs : CheckpointInputs {
  /// Opens everything. @throws ConfigError, InputError.
  explicit AnalysisInputs(const AnalysisRequest& request);

  /// All that a result depends on.
  io::RunConfiguration configuration(const AnalysisRequest& request) const;

  std::vector<ChosenAnalyzer> analyzers;  // in the registry's order

 private:
  AnalysisInputs(const AnalysisRequest& request, std::vector<ChosenAnalyzer> chosen);

  // @throws InputError if a checkpoint's cannot be assigned to the parameters.
  void require_adam_states() const;
};

}  // namespace hesscope::detail
