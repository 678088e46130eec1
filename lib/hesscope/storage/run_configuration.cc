// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/storage/run_configuration.h>
#include <hesscope/storage/sha256.h>

namespace hesscope::io {
namespace {

// Tabs, newlines and backslashes are escaped.
void append_escaped(const std::string& text, std::string& result) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        result.append("\\\\");
        break;
      case '\n':
        result.append("\\n");
        break;
      case '\t':
        result.append("\\t");
        break;
      default:
        result.push_back(c);
    }
  }
}

// The escaped key and value of the line that begins at a place.
std::pair<std::string_view, std::string_view> entry_at(std::string_view text, std::size_t line) {
  const std::string_view entry = text.substr(line, text.find('\n', line) - line);
  const std::size_t tab = std::min(entry.find('\t'), entry.size());
  return {entry.substr(0, tab), entry.substr(std::min(tab + 1, entry.size()))};
}

// Whether a value is informative for a reader: short, and not a digest.
bool is_telling(std::string_view value) {
  constexpr std::size_t kMaxBytes = 80;
  constexpr std::size_t kDigestBytes = 64;
  const bool is_digest = value.size() == kDigestBytes &&
                         value.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return !value.empty() && value.size() <= kMaxBytes && !is_digest;
}

}  // namespace

std::string text_of(const RunConfiguration& configuration) {
  std::string text;
  for (const auto& [key, value] : configuration) {
    append_escaped(key, text);
    text.push_back('\t');
    append_escaped(value, text);
    text.push_back('\n');
  }
  return text;
}

std::optional<std::string_view> find_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto [found, value] = entry_at(text, 0);
    if (found == key) return value;
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

std::string difference_from(const RunConfiguration& configuration,
                            const std::string& theirs,
                            std::string_view here,
                            std::string_view there) {
  const std::string ours = text_of(configuration);
  std::size_t line = 0;
  while (line < ours.size()) {
    const std::size_t end = std::min(ours.find('\n', line), ours.size());
    if (theirs.compare(line, end - line + 1, ours, line, end - line + 1) != 0) break;
    line = end + 1;
  }
  const std::string& text = line < ours.size() ? ours : theirs;
  if (line >= text.size()) return {};
  const auto [key, value] = entry_at(text, line);
  if (&text == &theirs || line >= theirs.size()) return fmt::format("'{}'", key);
  const auto [their_key, their_value] = entry_at(theirs, line);
  if (their_key != key || !is_telling(value) || !is_telling(their_value)) {
    return fmt::format("'{}'", key);
  }
  return fmt::format("'{}' ({} {}, {} {})", key, value, here, their_value, there);
}

std::string digest_of(const RunConfiguration& configuration) {
  return sha256_of_text(text_of(configuration));
}

}  // namespace hesscope::io
