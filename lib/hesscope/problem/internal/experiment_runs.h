// SPDX-License-Identifier: BSD-3-Clause
//
// The [[run]] tables of an experiment file.
#pragma once

#include <vector>

#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/internal/toml_tables.h>

namespace hesscope::detail {

/// One or more for each table, in its order. @throws ConfigError "FILE:LINE: ...".
std::vector<ExperimentRun> runs_from(const TomlTable& root);

}  // namespace hesscope::detail
