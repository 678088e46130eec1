// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that results can hold, as declared in the code: for people, and for
// docs/definitions.md.
#pragma once

#include <string>

#include "json_document.h"

namespace hesscope::cli {

/// Each quantity by its path, with its definition.
std::string quantities_text();

/// The same with everything that is declared: names, dimensions, units, definitions, possible
/// statuses, sources.
Json quantities_json();

}  // namespace hesscope::cli
