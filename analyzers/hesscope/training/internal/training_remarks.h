// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/problem/experiment_file.h>

namespace hesscope::detail {

/// What an experiment asks for that is impossible, and what is done instead; and what its numbers
/// do not include. If a remark holds for several runs, it names the first.
/// @param run          the one that is trained; empty for all.
/// @param num_samples  to train on; 0 if every step draws its own.
/// @param trains_all   whether all parameters are trained.
std::vector<std::string> training_remarks(const ExperimentFile& experiment,
                                          const std::string& run,
                                          std::int64_t num_samples,
                                          bool trains_all);

}  // namespace hesscope::detail
