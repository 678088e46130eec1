// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hesscope::report {

/// HTML in the making. What is not ours, and may be anything, enters by text() and attributes,
/// which are escaped.
class Html {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  void open(std::string_view tag, const Attributes& attributes = {});

  /// Of what was opened last.
  void close();

  void text(std::string_view text);

  /// Text with ^{...} and _{...} raised and lowered.
  void marked_up(std::string_view text);

  /// An element that holds text alone.
  void element(std::string_view tag, std::string_view content, const Attributes& attributes = {});

  /// One without an end: <meta>.
  void single(std::string_view tag, const Attributes& attributes);

  /// HTML, style sheets and scripts of ours.
  void trusted(std::string_view html) { html_ += html; }

  void line() { html_ += '\n'; }

  std::string take() &&;

 private:
  std::string html_;
  std::vector<std::string> open_;
};

}  // namespace hesscope::report
