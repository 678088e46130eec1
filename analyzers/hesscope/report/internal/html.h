// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hesscope::report {

/// Builds HTML. Text of unknown origin enters only by text() and attributes, which are escaped.
class Html {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  void open(std::string_view tag, const Attributes& attributes = {});

  /// Closes the element that was opened last.
  void close();

  void text(std::string_view text);

  /// Text in which ^{...} is raised and _{...} lowered.
  void marked_up(std::string_view text);

  /// An element that contains only text.
  void element(std::string_view tag, std::string_view content, const Attributes& attributes = {});

  /// An element without an end tag, such as <meta>.
  void single(std::string_view tag, const Attributes& attributes);

  /// HTML, style sheets and scripts of hesscope itself.
  void trusted(std::string_view html) { html_ += html; }

  void line() { html_ += '\n'; }

  std::string take() &&;

 private:
  std::string html_;
  std::vector<std::string> open_;
};

}  // namespace hesscope::report
