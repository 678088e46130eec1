// SPDX-License-Identifier: BSD-3-Clause
//
// The report of hesscope inspect on how a checkpoint fits a problem.
#pragma once

#include <string>

#include <hesscope/problem/checkpoint_fit.h>

#include "json_document.h"

namespace hesscope::cli {

/// Whether there is a map to try.
bool has_suggestion(const CheckpointFit& fit);

/// For people: a table of the parameters, and a map to try if only the names are wrong.
std::string fit_text(const CheckpointFit& fit, const std::string& problem);

Json fit_json(const CheckpointFit& fit, const std::string& problem);

}  // namespace hesscope::cli
