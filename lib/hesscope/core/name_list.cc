// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <hesscope/core/name_list.h>

namespace hesscope {
namespace {

std::string joined(std::span<const std::string> names, std::size_t most, std::string_view quote) {
  if (names.empty()) return {};
  const std::span<const std::string> first = names.first(std::min(names.size(), most));
  const std::string separator = fmt::format("{0}, {0}", quote);
  return fmt::format(
      "{0}{1}{0}{2}", quote, fmt::join(first, separator), and_more(names.size() - first.size()));
}

}  // namespace

std::string and_more(std::size_t num_others) {
  return num_others > 0 ? fmt::format(" and {} more", num_others) : std::string();
}

std::string first_names(std::span<const std::string> names, std::size_t most) {
  return joined(names, most, "");
}

std::string first_quoted(std::span<const std::string> names, std::size_t most) {
  return joined(names, most, "'");
}

}  // namespace hesscope
