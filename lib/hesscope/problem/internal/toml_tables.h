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
  std::vector<std::string> others;                            ///< keys of values of any other kind

  const std::string& place() const { return locations.at(""); }

  /// The place of a key, or of the table if the key is absent.
  const std::string& place(const std::string& key) const;
};

/// @throws ConfigError "PLACE: WHAT", always.
[[noreturn]] void refuse(const std::string& place, const std::string& what);

/// Returns the result of a call. If it throws a ConfigError that does not begin with a place in the
/// file of `place`, `place` is prepended. Without a place, the call is made as it is.
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

/// Reads a text; messages use `name` for its file. @throws ConfigError as read_toml().
TomlTable parse_toml(std::string_view text, const std::string& name);

/// @throws ConfigError "FILE:LINE: ..." for a list, a table or a date in the table.
void require_single_values(const TomlTable& table, const std::string& context);

/// Removes the key that selects one of `names`, and returns its value.
/// @throws ConfigError if it is missing or has another value.
std::string take_kind(TomlTable& table,
                      const std::string& context,
                      const std::vector<std::string>& names,
                      const std::string& key = "kind");

/// The table's values, lists of texts or numbers and tables of texts, checked against a declaration
/// (Settings::checked). Keys in `other_keys`, which are not part of the declaration, are ignored.
/// @throws ConfigError "FILE:LINE: ...".
Settings checked(const TomlTable& table,
                 std::span<const SettingKey> keys,
                 const std::string& context,
                 const std::vector<std::string>& other_keys = {});

/// A list of texts; empty if absent. @throws ConfigError.
std::vector<std::string> text_list(const TomlTable& table, const std::string& key);

/// A list of nonnegative whole numbers; empty if absent. @throws ConfigError.
std::vector<std::int64_t> number_list(const TomlTable& table, const std::string& key);

/// Requires letters, digits, '-', '_', '+' and '.': for names of files or folders.
/// @throws ConfigError.
void require_file_name(const std::string& name, const std::string& what, const std::string& place);

/// A value in TOML syntax. Tables are written as {NAME = TEXT, ...}.
std::string toml_text(const SettingValue& value);

/// "[NAME]" with a line for each value, followed by its tables as [NAME.KEY].
std::string toml_section(const std::string& name,
                         const std::vector<std::pair<std::string, SettingValue>>& values);

}  // namespace hesscope::detail
