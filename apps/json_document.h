// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/core/json.h>

namespace hesscope::cli {

/// Sets a number and, if its status is not ok, NAME_status.
void set_number(Json& object, const std::string& name, Json value, Status status);

/// Adds some numbers to `entry`, by group.
void add_numbers(Json& entry, const std::vector<HeadlineNumber>& numbers);

/// A list with an object for each.
Json json_of(const std::vector<CheckpointSummary>& checkpoints);

/// Prints the document on stdout.
void print_json(const Json& document);

}  // namespace hesscope::cli
