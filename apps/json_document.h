// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

namespace hesscope::cli {

/// Keeps the keys in the order written.
using Json = nlohmann::ordered_json;

/// A number; null where it is NaN or infinite, which JSON cannot say.
Json json_number(double value);

/// Prints the document on stdout. Bytes that are no UTF-8, as paths may hold, are replaced.
void print_json(const Json& document);

}  // namespace hesscope::cli
