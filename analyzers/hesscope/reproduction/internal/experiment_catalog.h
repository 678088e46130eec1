// SPDX-License-Identifier: BSD-3-Clause
//
// From what a user names to experiment documents.
#pragma once

#include <string>
#include <vector>

#include <hesscope/reproduction/internal/experiment_document.h>

namespace hesscope::detail {

/// One that is carried, or a file.
struct NamedExperiment {
  std::string given;  ///< as named, for commands
  ExperimentDocument document;
};

/// @param named  names of experiments that are carried, or paths: what holds a '/' or ends in
///               ".toml"; empty = all that are carried.
/// @throws ConfigError naming the nearest known experiment, or for two of the same name.
std::vector<NamedExperiment> find_experiments(const std::vector<std::string>& named,
                                              const std::string& scale,
                                              const std::vector<std::string>& overrides = {});

}  // namespace hesscope::detail
