// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration files as plain values, each with its place for messages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/core/settings.h>

namespace hesscope::detail {

struct TomlTable {
  int line = 0;
  std::map<std::string, std::string> locations;  ///< "FILE:LINE" by key; "" = of the table itself
  std::map<std::string, SettingValue> values;
  std::map<std::string, std::vector<SettingValue>> lists;  ///< arrays of single values
  std::map<std::string, TomlTable> tables;
  std::map<std::string, std::vector<TomlTable>> table_lists;  ///< arrays of tables
  std::vector<std::string> others;                            ///< keys of values of no such kind

  const std::string& place() const { return locations.at(""); }

  /// The place of a key, or of the table where it is not there.
  const std::string& place(const std::string& key) const;
};

/// @throws ConfigError "PLACE: WHAT", always.
[[noreturn]] void refuse(const std::string& place, const std::string& what);

/// What a call returns, whose ConfigErrors begin with a place in the file of `place`: that one,
/// where they say none themselves. Without a place, the call as it is.
template <typename F>
auto at_place(const std::string& place, const F& call) {
  try {
    return call();
  } catch (const ConfigError& error) {
    const std::string file = place.substr(0, place.rfind(':') + 1);
    const std::string what = error.what();
    const bool says_place = place.empty() || (!file.empty() && what.starts_with(file));
    throw ConfigError(says_place ? what : place + ": " + what);
  }
}

/// Reads a file; `what` is what messages call it: "problem file".
/// @throws ConfigError naming file and line.
TomlTable read_toml(const std::filesystem::path& path, const std::string& what);

/// Reads a text; messages call the file it is of `name`. @throws ConfigError as read_toml().
TomlTable parse_toml(std::string_view text, const std::string& name);

/// @throws ConfigError "FILE:LINE: ..." for a list, a table or a date in the table.
void require_single_values(const TomlTable& table, const std::string& context);

/// Removes the key that says which one of `names` a table is about, and returns what it says.
/// @throws ConfigError where it is missing or says something else.
std::string take_kind(TomlTable& table,
                      const std::string& context,
                      const std::vector<std::string>& names,
                      const std::string& key = "kind");

/// The table's values, lists of texts or numbers and tables of texts checked against a declaration
/// (Settings::checked). Of keys in `other_keys`, which are not of the declaration, nothing is said.
/// @throws ConfigError "FILE:LINE: ...".
Settings checked(const TomlTable& table,
                 std::span<const SettingKey> keys,
                 const std::string& context,
                 const std::vector<std::string>& other_keys = {});

/// A list of text; empty where it is not there. @throws ConfigError.
std::vector<std::string> text_list(const TomlTable& table, const std::string& key);

/// A list of whole numbers from 0 on; empty where it is not there. @throws ConfigError.
std::vector<std::int64_t> number_list(const TomlTable& table, const std::string& key);

/// Letters, digits, '-', '_', '+' and '.': a name that becomes that of a file or folder.
/// @throws ConfigError.
void require_file_name(const std::string& name, const std::string& what, const std::string& place);

/// A value as TOML has it. Tables are written {NAME = TEXT, ...}.
std::string toml_text(const SettingValue& value);

/// "[NAME]" with a line for each value, and tables among them as [NAME.KEY] after all others.
std::string toml_section(const std::string& name,
                         const std::vector<std::pair<std::string, SettingValue>>& values);

}  // namespace hesscope::detail
