// SPDX-License-Identifier: BSD-3-Clause
//
// What an analysis works on: its inputs, opened and checked against each other. Private to the
// analyzers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/io/unit_folder.h>
#include <hesscope/problem/problem.h>

namespace hesscope::detail {

struct ChosenAnalyzer {
  std::string name;
  Settings settings;
  std::unique_ptr<Analyzer> analyzer;
};

struct AnalysisInputs {
  /// Opens everything. @throws ConfigError, InputError.
  explicit AnalysisInputs(const AnalysisRequest& request);

  /// All that a result depends on.
  io::RunConfiguration configuration(const AnalysisRequest& request) const;

  std::vector<ChosenAnalyzer> analyzers;  // in the registry's order
  Problem problem;
  std::vector<Eigen::VectorXd> points;  // of the checkpoints, in order
  std::vector<std::optional<AdamState>> adam_states;
  std::vector<std::string> digests;  // SHA-256 of the checkpoints, taken when they were read
};

}  // namespace hesscope::detail
