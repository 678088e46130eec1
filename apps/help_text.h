// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hesscope::cli {

/// What --help prints: groups of options with their meanings, in lines of at most 80 characters.
class HelpText {
 public:
  /// What is added from here on stands under this title, below what is there already.
  void begin_group(const std::string& title);

  /// A line of two columns, such as an option and its meaning. A line break in `meaning` begins an
  /// item of a list.
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

/// Text in lines of at most 80 characters, `indent` spaces before each but the first, which begins
/// at column `column`. Words that are longer stay whole. Ends with a newline.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t column = 0);

/// A command line for a shell in lines of at most 80 characters, broken before its options.
std::string wrapped_command(const std::string& command);

}  // namespace hesscope::cli
