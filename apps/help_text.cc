// SPDX-License-Identifier: BSD-3-Clause
#include "help_text.h"

#include <algorithm>
#include <sstream>

#include <hesscope/core/ascii.h>

namespace hesscope::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kMargin = 2;   // before options
constexpr std::size_t kColumn = 27;  // of meanings

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// There is at least one space between the columns.
std::string line_text(const std::string& left, const std::string& meaning) {
  std::string text = std::string(kMargin, ' ') + left;
  if (meaning.empty()) return text + "\n";
  if (text.size() + 1 > kColumn) {
    text += '\n';
    text.append(kColumn, ' ');
  } else {
    text.append(kColumn - text.size(), ' ');
  }
  const std::vector<std::string> lines = lines_of(meaning);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text.append(kColumn, ' ');
    text += wrapped(lines[i], i == 0 ? kColumn : kColumn + 2, kColumn);
  }
  return text;
}

}  // namespace

void HelpText::begin_group(const std::string& title) {
  const auto found = std::find_if(
      groups_.begin(), groups_.end(), [&](const Group& group) { return group.title == title; });
  current_ = static_cast<std::size_t>(found - groups_.begin());
  if (found == groups_.end()) groups_.push_back({title, {}});
}

HelpText::Group& HelpText::current() {
  if (groups_.empty()) begin_group("Options");
  return groups_[current_];
}

void HelpText::add(const std::string& left, const std::string& meaning) {
  current().lines.push_back({left, meaning});
}

std::string HelpText::text() const {
  std::string text;
  for (const Group& group : groups_) {
    text += '\n';
    const bool ends_with_colon = group.title.find(':') == std::string::npos;  // else it has one
    text += wrapped(group.title + (ends_with_colon ? ":" : ""), kMargin);
    for (const Line& line : group.lines) text += line_text(line.left, line.meaning);
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t column) {
  std::string result;
  std::istringstream words(text);
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    if (!is_first && column + 1 + word.size() > kWidth) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
    } else if (!is_first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}

std::string wrapped_command(const std::string& command) {
  constexpr std::size_t kContinued = 6;  // indentation of the continuation of a command
  std::string result(kMargin, ' ');
  std::size_t column = kMargin;
  std::istringstream words(command);
  // An option and its values stay on one line.
  std::vector<std::string> parts;
  for (std::string word; words >> word;) {
    if (parts.empty() || (word.starts_with('-') && word.size() > 1 && !is_digit(word[1]))) {
      parts.push_back(word);
    } else {
      parts.back() += " " + word;
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    constexpr std::size_t kBackslash = 2;
    const bool is_last = i + 1 == parts.size();
    if (i > 0 && column + 1 + parts[i].size() + (is_last ? 0 : kBackslash) > kWidth) {
      result += " \\\n";
      result.append(kContinued, ' ');
      column = kContinued;
    } else if (i > 0) {
      result += ' ';
      ++column;
    }
    result += parts[i];
    column += parts[i].size();
  }
  return result + "\n";
}

}  // namespace hesscope::cli
