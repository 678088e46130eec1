// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/core/parse_number.h>

namespace hesscope::detail {
namespace {

// Takes the part before `separator`, and the separator, from the text.
std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::string full_name(const std::string& group, const std::string& name) {
  return group + '/' + name;
}

}  // namespace

UnprovedNumbers::UnprovedNumbers(const io::ResultReader& result) {
  const AttributeValue* const found = result.find_attribute("", kAttribute);
  const auto* const text = found == nullptr ? nullptr : std::get_if<std::string>(found);
  if (text == nullptr) return;
  for (std::string_view rest = *text; !rest.empty();) read_line(next_part(rest, '\n'));
}

void UnprovedNumbers::read_line(std::string_view line) {
  const std::string_view name = next_part(line, ' ');
  Ranges& ranges = all_[std::string(name)];
  while (!line.empty()) {
    std::string_view range = next_part(line, ',');
    const std::optional<std::size_t> first = parse_number<std::size_t>(next_part(range, '-'));
    const std::optional<std::size_t> last =
        range.empty() ? first : parse_number<std::size_t>(range);
    if (!first || !last) return ranges.clear();  // damaged: rather too many than none
    ranges.emplace_back(*first, *last);
  }
}

void UnprovedNumbers::add(const std::string& group,
                          const std::string& name,
                          std::optional<std::size_t> row) {
  const auto [found, is_new] = all_.try_emplace(full_name(group, name));
  Ranges& ranges = found->second;
  if (!row) {
    ranges.clear();
  } else if (!ranges.empty() && ranges.back().second + 1 == *row) {
    ranges.back().second = *row;
  } else if (is_new || !ranges.empty()) {
    ranges.emplace_back(*row, *row);
  }
}

std::string UnprovedNumbers::text() const {
  constexpr std::size_t kMaxBytes = std::size_t{32} << 10;  // HDF5 takes 64 KiB
  const auto lines = [&](bool has_rows) {
    std::vector<std::string> all;
    for (const auto& [name, ranges] : all_) {
      std::vector<std::string> rows;
      for (const auto& [first, last] : ranges) {
        rows.push_back(first == last ? fmt::to_string(first) : fmt::format("{}-{}", first, last));
      }
      const bool is_whole = ranges.empty() || !has_rows;
      all.push_back(is_whole ? name : fmt::format("{} {}", name, fmt::join(rows, ",")));
    }
    return fmt::format("{}", fmt::join(all, "\n"));
  };
  const std::string text = lines(true);
  return text.size() <= kMaxBytes ? text : lines(false);
}

std::vector<bool> UnprovedNumbers::rows_of(const std::string& group,
                                           const std::string& name,
                                           std::size_t count) const {
  const auto found = all_.find(full_name(group, name));
  if (found == all_.end()) return std::vector<bool>(count, false);
  std::vector<bool> rows(count, found->second.empty() || count == 1);
  for (const auto& [first, last] : found->second) {
    for (std::size_t row = first; row < count && row <= last; ++row) rows[row] = true;
  }
  return rows;
}

}  // namespace hesscope::detail
