// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

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

std::string differing_key(const RunConfiguration& configuration, const std::string& theirs) {
  const std::string ours = text_of(configuration);
  std::size_t line = 0;
  while (line < ours.size()) {
    const std::size_t end = std::min(ours.find('\n', line), ours.size());
    if (theirs.compare(line, end - line + 1, ours, line, end - line + 1) != 0) break;
    line = end + 1;
  }
  const std::string& text = line < ours.size() ? ours : theirs;
  return line < text.size() ? text.substr(line, text.find('\t', line) - line) : std::string();
}

std::string digest_of(const RunConfiguration& configuration) {
  return sha256_of_text(text_of(configuration));
}

}  // namespace hesscope::io
