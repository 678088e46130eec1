// SPDX-License-Identifier: BSD-3-Clause
//
// Converts command line arguments to values. Functions that return a text return what is wrong with
// the argument, or nothing.
#pragma once

#include <string>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope::cli {

/// In points, from 240, 85mm, 8.5cm, 3.4in or 240pt; NaN if it is not a length.
double parse_length(const std::string& given);

/// The texts between commas, without surrounding blanks; empty ones are left out.
std::vector<std::string> listed(const std::string& given);

std::string choice_problem(const std::vector<std::string>& choices, const std::string& given);

/// Converts an argument to the key's type.
std::string parse_setting(const SettingKey& key, const std::string& given, SettingValue& value);

}  // namespace hesscope::cli
