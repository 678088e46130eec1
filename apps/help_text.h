// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hesscope::cli {

/// What --help prints: groups of options with their meanings, in lines of at most 80 characters.
class HelpText {
 public:
  /// Everything that is added from here on appears under this title, after what is already there.
  void begin_group(const std::string& title);

  /// A line with two columns, such as an option and its meaning. Each line break in `meaning`
  /// begins an item of a list.
  void add(const std::string& left, const std::string& meaning);

  std::string text() const;

 private:
  struct Line {
    std::string left;
    std::string meaning;
  };

  struct Group {
    std::string title;
    std::vector<Line> lines;
  };

  Group& current();

  std::vector<Group> groups_;
  std::size_t current_ = 0;
};

/// Text in lines of at most 80 characters, with `indent` spaces before each except the first, which
/// begins at column `column`. Longer words stay whole. Ends with a newline.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t column = 0);

/// A command line for a shell in lines of at most 80 characters, broken before its options.
std::string wrapped_command(const std::string& command);

}  // namespace hesscope::cli
