// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/document_merge.h>

namespace hesscope::detail {
namespace {

std::string name_of(const TomlTable& table) {
  const auto found = table.values.find("name");
  const auto* name =
      found == table.values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return name == nullptr ? "" : *name;
}

void merge_elements(std::vector<TomlTable>& elements,
                    const std::string& key,
                    const TomlTable& changes) {
  std::vector<std::string> names;
  for (const TomlTable& element : elements) names.push_back(name_of(element));
  for (const auto& [name, place] : changes.locations) {
    if (name.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw ConfigError(
          fmt::format("{}: no [[{}]] is named {}", place, key, name_among(name, names)));
    }
    if (!changes.tables.contains(name)) {
      throw ConfigError(
          fmt::format("{}: '{}.{}' stands for a table: keys of it follow, as in {}.{}.KEY = ...",
                      place,
                      key,
                      name,
                      key,
                      name));
    }
    merge_into(elements[static_cast<std::size_t>(found - names.begin())], changes.tables.at(name));
  }
}

// Keys of one kind mean nothing to another.
bool is_of_another_kind(const TomlTable& changes, const TomlTable& table) {
  const auto now = changes.values.find("kind");
  const auto before = table.values.find("kind");
  return now != changes.values.end() && before != table.values.end() &&
         now->second != before->second;
}

void remove(TomlTable& table, const std::string& key) {
  table.values.erase(key);
  table.lists.erase(key);
  table.tables.erase(key);
  table.table_lists.erase(key);
  std::erase(table.others, key);
}

}  // namespace

void merge_into(TomlTable& table, const TomlTable& changes) {
  for (const auto& [key, place] : changes.locations) {
    if (key.empty()) continue;
    if (const auto inner = changes.tables.find(key); inner != changes.tables.end()) {
      if (const auto list = table.table_lists.find(key); list != table.table_lists.end()) {
        merge_elements(list->second, key, inner->second);
        continue;
      }
      const auto same = table.tables.find(key);
      if (same != table.tables.end() && !is_of_another_kind(inner->second, same->second)) {
        merge_into(same->second, inner->second);
        continue;
      }
      remove(table, key);
      table.tables[key] = inner->second;
    } else {
      remove(table, key);
      if (changes.values.contains(key)) table.values[key] = changes.values.at(key);
      if (changes.lists.contains(key)) table.lists[key] = changes.lists.at(key);
      if (changes.table_lists.contains(key)) table.table_lists[key] = changes.table_lists.at(key);
      if (std::find(changes.others.begin(), changes.others.end(), key) != changes.others.end()) {
        table.others.push_back(key);
      }
    }
    table.locations[key] = place;
  }
}

}  // namespace hesscope::detail
