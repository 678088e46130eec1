// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the experiment documents that a user names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// An included experiment, or a file.
struct NamedExperiment {
  std::string given;    ///< as named, for commands
  std::string carried;  ///< its name among the included experiments; "" = it is a file
  ExperimentDocument document;
};

/// @param named  names of included experiments, or paths, which contain a '/' or end in ".toml";
///               empty = all included experiments.
/// @param output where the results will be: files included with an experiment are named as in
///               inputs_of(), and not written yet.
/// @throws ConfigError naming the nearest known experiment, or for two experiments with the same
///         name.
std::vector<NamedExperiment> find_experiments(const std::vector<std::string>& named,
                                              const std::string& scale,
                                              const std::vector<std::string>& overrides = {},
                                              const std::filesystem::path& output = {});

/// OUTPUT/EXPERIMENT/inputs, the folder for the files that an included experiment names.
std::filesystem::path inputs_of(const std::filesystem::path& output, const std::string& experiment);

/// Writes those files. @throws OutputError.
void write_inputs(const std::filesystem::path& output, const std::vector<NamedExperiment>& all);

/// Removes what killed writers of those files left. Only where all files exist, so that no process
/// is writing them.
void remove_remnants_of_inputs(const std::filesystem::path& output,
                               const std::vector<NamedExperiment>& all);

}  // namespace hesscope::detail
