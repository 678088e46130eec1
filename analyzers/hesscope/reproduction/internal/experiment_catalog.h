// SPDX-License-Identifier: BSD-3-Clause
//
// From what a user names to experiment documents.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// One that is carried, or a file.
struct NamedExperiment {
  std::string given;    ///< as named, for commands
  std::string carried;  ///< its name among those that are carried; "" = it is a file
  ExperimentDocument document;
};

/// @param named  names of experiments that are carried, or paths: what holds a '/' or ends in
///               ".toml"; empty = all that are carried.
/// @param output where the results are to be: what is carried with an experiment is named as in
///               inputs_of(), and not written yet.
/// @throws ConfigError naming the nearest known experiment, or for two of the same name.
std::vector<NamedExperiment> find_experiments(const std::vector<std::string>& named,
                                              const std::string& scale,
                                              const std::vector<std::string>& overrides = {},
                                              const std::filesystem::path& output = {});

/// OUTPUT/EXPERIMENT/inputs, the place of the files that a carried experiment names.
std::filesystem::path inputs_of(const std::filesystem::path& output, const std::string& experiment);

/// Writes them. @throws OutputError.
void write_inputs(const std::filesystem::path& output, const std::vector<NamedExperiment>& all);

/// Removes what killed writers of them left. Only where all of them are there, so that nobody is
/// writing them.
void remove_remnants_of_inputs(const std::filesystem::path& output,
                               const std::vector<NamedExperiment>& all);

}  // namespace hesscope::detail
