// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration files as plain values, each with its place for messages. Private to the module.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

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

  /// Removes and returns a value. Nothing where it is not there.
  std::map<std::string, SettingValue> take(const std::string& key);
};

/// Reads a file; `what` is what messages call it: "problem file".
/// @throws ConfigError naming file and line.
TomlTable read_toml(const std::filesystem::path& path, const std::string& what);

/// The table's values checked against a declaration (Settings::checked). Lists and tables in it
/// must be among `other_keys`.
/// @throws ConfigError "FILE:LINE: ...".
Settings checked(const TomlTable& table,
                 std::span<const SettingKey> keys,
                 const std::string& context,
                 const std::vector<std::string>& other_keys = {});

/// A value as TOML has it.
std::string toml_text(const SettingValue& value);

}  // namespace hesscope::detail
