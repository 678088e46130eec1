// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <utility>

#include <hesscope/core/ascii.h>
#include <hesscope/plot/markup.h>

namespace hesscope::plot {

std::vector<TextRun> parse_markup(std::string_view text) {
  std::vector<TextRun> runs;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) runs.push_back({plain, TextRun::Level::kNormal});
    plain.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = (text[i] == '^' || text[i] == '_') && text.substr(i + 1, 1) == "{";
    const std::size_t end = opens ? text.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      plain += text[i];
      continue;
    }
    flush();
    std::string script(text.substr(i + 2, end - i - 2));
    if (script.size() > 1 && script[0] == '-' && is_digit(script[1])) {
      script.replace(0, 1, "\u2212");
    }
    runs.push_back(
        {std::move(script), text[i] == '^' ? TextRun::Level::kRaised : TextRun::Level::kLowered});
    i = end;
  }
  flush();
  return runs;
}

std::string without_markup(std::string_view text) {
  std::string plain;
  for (const TextRun& run : parse_markup(text)) plain += run.text;
  return plain;
}

}  // namespace hesscope::plot
