// SPDX-License-Identifier: BSD-3-Clause
#include "group_listing.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>

#include "command.h"
#include "quantities_report.h"
#include "table.h"

namespace hesscope::cli {
namespace {

constexpr std::size_t kLongestText = 160;  // bytes of a text of several lines that is shown in full

std::string value_text(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::vector<double>> ||
                             std::is_same_v<T, std::vector<std::int8_t>>) {
          return fmt::format("[{}]", fmt::join(v, ", "));
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

bool is_of_netcdf(const Attribute& attribute) { return attribute.name.starts_with('_'); }

bool is_long(const std::string& text) {
  return text.size() > kLongestText && text.find('\n') != std::string::npos;
}

// The beginning of a text, as one line.
std::string beginning_of(std::string text) {
  const bool is_cut = is_long(text);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  if (!is_cut) return text;
  std::size_t end = 0;
  while (end < kLongestText) {
    end += std::max<std::size_t>(1, utf8_length(std::string_view(text).substr(end)));
  }
  return text.substr(0, end) + " ...";
}

// A text of several lines is put below the name.
std::string whole_text(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  if (text.find('\n') == std::string::npos) return text;
  std::string lines;
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (const std::size_t tab = line.find('\t'); tab != std::string::npos)
      line.replace(tab, 1, ": ");
    lines += "\n    " + line;
  }
  return lines;
}

std::vector<Group> chosen_groups(const io::ResultReader& result, const std::string& group) {
  std::vector<Group> all = result.groups();
  if (group.empty()) return all;
  std::vector<std::string> names;
  for (const Group& each : all) names.push_back("/" + each.name);
  const std::string wanted = group.starts_with('/') ? group : "/" + group;
  const auto found = std::ranges::find(names, wanted);
  if (found == names.end()) {
    throw UsageError(
        fmt::format("{}: there is no group {}", result.path().string(), name_among(wanted, names)));
  }
  return {std::move(all[static_cast<std::size_t>(found - names.begin())])};
}

std::string extents_text(const Variable& variable) {
  std::vector<std::string> extents;
  for (std::size_t d = 0; d < variable.shape.size(); ++d) {
    extents.push_back(fmt::format("{}={}", variable.dimensions[d], variable.shape[d]));
  }
  return fmt::format("{}", fmt::join(extents, ", "));
}

std::string group_text(const Group& group, bool is_whole, bool& is_cut) {
  std::string text = fmt::format("/{}\n", group.name);
  for (const Attribute& attribute : group.attributes) {
    if (is_of_netcdf(attribute)) continue;
    const std::string value = value_text(attribute.value);
    text += fmt::format(
        "  {}: {}\n", attribute.name, is_whole ? whole_text(value) : beginning_of(value));
    is_cut = is_cut || (!is_whole && is_long(value));
  }
  std::vector<std::vector<std::string>> rows = {{"variable", "dimensions", "type", "meaning"}};
  for (const Variable& variable : group.variables) {
    if (variable.name.ends_with("_status")) continue;
    rows.push_back({variable.name,
                    extents_text(variable),
                    std::string(to_string(variable.type)),
                    variable.long_name});
  }
  return text + table_text(rows, rows.front().size());
}

}  // namespace

std::string listing_text(const io::ResultReader& result, const std::string& group) {
  std::vector<std::string> texts;
  bool is_cut = false;
  for (const Group& each : chosen_groups(result, group)) {
    texts.push_back(group_text(each, !group.empty(), is_cut));
  }
  if (is_cut) texts.emplace_back("...: --group NAME shows one group with all of its text\n");
  return fmt::format("{}", fmt::join(texts, "\n"));
}

Json listing_json(const io::ResultReader& result, const std::string& group) {
  Json groups = Json::list();
  for (const Group& each : chosen_groups(result, group)) {
    Json attributes = Json::object();
    for (const Attribute& attribute : each.attributes) {
      if (is_of_netcdf(attribute)) continue;
      attributes[attribute.name] =
          std::visit([](const auto& v) { return Json(v); }, attribute.value);
    }
    Json variables = Json::list();
    for (const Variable& variable : each.variables) {
      variables.push_back({{"name", variable.name},
                           {"type", to_string(variable.type)},
                           {"dimensions", variable.dimensions},
                           {"shape", variable.shape},
                           {"long_name", variable.long_name},
                           {"units", variable.units},
                           {"definition", variable.definition},
                           {"references", variable.references}});
    }
    groups.push_back({{"name", each.name}, {"attributes", attributes}, {"variables", variables}});
  }
  return groups;
}

}  // namespace hesscope::cli
