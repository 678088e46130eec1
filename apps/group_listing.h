// SPDX-License-Identifier: BSD-3-Clause
//
// The contents of a result, for people and for scripts: groups, their attributes, and the meaning
// of each variable.
#pragma once

#include <string>

#include <hesscope/dataset/result_reader.h>

#include "json_document.h"

namespace hesscope::cli {

/// @param group  the one to list, "/" or "/spectrum", with the full text of its attributes; empty =
///               all groups, with only the beginning of long attributes. @throws ConfigError for an
///               unknown group.
std::string listing_text(const io::ResultReader& result, const std::string& group);

/// The same as a list with an object for each group. Nothing is cut, and variables that hold
/// statuses are included.
Json listing_json(const io::ResultReader& result, const std::string& group);

}  // namespace hesscope::cli
