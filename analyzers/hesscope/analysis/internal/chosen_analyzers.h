// SPDX-License-Identifier: BSD-3-Clause
//
// From names and options to analyzers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/core/settings.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

struct ChosenAnalyzer {
  std::string name;
  Settings settings;
  std::unique_ptr<const Analyzer> analyzer;
};

/// An analyzer with those options that belong to it. @throws ConfigError for a value that it cannot
/// take.
ChosenAnalyzer chosen_with(const AnalyzerKind& kind,
                           const std::map<std::string, SettingValue>& options);

/// The analyzers asked for, in the registry's order, whatever the order of the request.
/// @param only     those to run; empty = the default ones.
/// @param also     further ones.
/// @param options  by the names that analyzers declare; each one asks for its analyzer.
/// @throws ConfigError for an unknown name or option, or a value that an analyzer cannot take.
std::vector<ChosenAnalyzer> choose_analyzers(const std::vector<std::string>& only,
                                             const std::vector<std::string>& also,
                                             const std::map<std::string, SettingValue>& options);

/// Whether any of them wants the full proof. @throws ConfigError if the method cannot give it.
bool need_full_proof(std::span<const ChosenAnalyzer> analyzers, SpectrumMethod method);

/// @throws ConfigError if one of them needs the matrix (Analyzer::needs_matrix()) and the method
///         does not assemble one for that many parameters.
void require_matrix(std::span<const ChosenAnalyzer> analyzers,
                    SpectrumMethod method,
                    Eigen::Index num_parameters);

/// The settings of the optimiser that one of them was given.
GivenSettings given_settings(std::span<const ChosenAnalyzer> analyzers);

/// Analyzer::remarks_on() and remarks_on_samples() of all, each remark once.
std::vector<std::string> remarks_of(std::span<const ChosenAnalyzer> analyzers,
                                    std::span<const OptimizerState> optimizers,
                                    const Objective& objective);

/// The part of a result's configuration that comes from these arguments.
io::RunConfiguration configuration_of(const std::vector<ChosenAnalyzer>& analyzers,
                                      SpectrumMethod method,
                                      std::uint64_t seed);

}  // namespace hesscope::detail
