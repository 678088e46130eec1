// SPDX-License-Identifier: BSD-3-Clause
//
// What stands in a result, for people and for scripts: groups, their attributes, and what each
// variable means.
#pragma once

#include <string>

#include <hesscope/dataset/result_reader.h>

#include "json_document.h"

namespace hesscope::cli {

/// @param group  the one to list, "/" or "/spectrum", with the whole text of its attributes;
///               empty = all, and of long attributes the beginning. @throws ConfigError for an
///               unknown one.
std::string listing_text(const io::ResultReader& result, const std::string& group);

/// The same, a list with an object for each group; nothing is cut, and the variables that hold a
/// status are in it, too.
Json listing_json(const io::ResultReader& result, const std::string& group);

}  // namespace hesscope::cli
