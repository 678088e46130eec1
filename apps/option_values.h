// SPDX-License-Identifier: BSD-3-Clause
//
// From command line arguments to values and back. Functions that take an argument and return a text
// return what is wrong with it, or nothing.
#pragma once

#include <map>
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

/// The arguments that give these values: " --KEY VALUE" for each; a flag has no value.
std::string settings_text(const std::map<std::string, SettingValue>& values);

/// The value of a key in the help; empty for a flag.
std::string value_name_of(const SettingKey& key);

/// The help of a key: capitalised, as that of other options, and with the fallback.
std::string help_of(const SettingKey& key);

/// Puts a remark at the end of the help's first line, before any list.
std::string with_remark(std::string help, const std::string& remark);

}  // namespace hesscope::cli
