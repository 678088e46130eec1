// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/problem/experiment_file.h>

namespace hesscope::detail {

/// What an experiment asks for that cannot be, and what is done instead; and what is not in the
/// numbers that it asks for. Of what is true of several runs, the first.
/// @param run          the one that is trained; empty for all.
/// @param num_samples  to train on; 0 where every step draws its own.
std::vector<std::string> training_remarks(const ExperimentFile& experiment,
                                          const std::string& run,
                                          std::int64_t num_samples);

}  // namespace hesscope::detail
