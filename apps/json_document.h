// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <hesscope/analysis/analysis.h>

namespace hesscope::cli {

/// Keeps the keys in the order written.
using Json = nlohmann::ordered_json;

/// A number; null where it is NaN or infinite, which JSON cannot say.
Json json_number(double value);

/// Takes the groups of some numbers into `entry`, with the status of each that is not ok.
void add_numbers(Json& entry, const std::vector<HeadlineNumber>& numbers);

Json json_of(const CheckpointSummary& summary);

/// Prints the document on stdout. Bytes that are no UTF-8, as paths may hold, are replaced.
void print_json(const Json& document);

}  // namespace hesscope::cli
