// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/internal/toml_bounds.h>

namespace hesscope::detail {
namespace {

constexpr std::size_t kMaxItems = 50'000;
constexpr int kMaxValueDepth = 16;

class BoundsCheck {
 public:
  BoundsCheck(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void run() {
    while (place_ < text_.size()) {
      switch (const char c = text_[place_]) {
        case '"':
        case '\'':
          pass_text(c);
          continue;
        case '#':
          place_ = std::min(text_.find('\n', place_), text_.size());
          continue;
        case '\n':
          ++line_;
          num_dots_ = 0;
          break;
        case '.':
          count();
          if (++num_dots_ > kMaxTomlDepth)
            refuse("keys are nested more than {} deep", kMaxTomlDepth);
          break;
        case '[':
        case '{':
          if (++depth_ > kMaxValueDepth) {
            refuse("lists and tables are nested more than {} deep", kMaxValueDepth);
          }
          num_dots_ = 0;
          count();
          break;
        case ']':
        case '}':
          depth_ = std::max(depth_ - 1, 0);
          break;
        case '=':
        case ',':
          num_dots_ = 0;
          count();
          break;
        default:
          break;
      }
      ++place_;
    }
  }

 private:
  template <typename Limit>
  [[noreturn]] void refuse(fmt::format_string<const Limit&> what, const Limit& limit) const {
    throw ConfigError(fmt::format("{}:{}: {}", name_, line_, fmt::format(what, limit)));
  }

  void count() {
    if (++num_items_ > kMaxItems) refuse("the file has more than {} keys and values", kMaxItems);
  }

  /// Moves behind the end of the text that begins here.
  void pass_text(char quote) {
    const std::string_view rest = text_.substr(place_);
    const bool is_long = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    place_ += is_long ? 3 : 1;
    for (; place_ < text_.size(); ++place_) {
      const char c = text_[place_];
      if (c == '\n') {
        if (!is_long) return;  // an error, or a newline behind it
        ++line_;
      } else if (c == '\\' && quote == '"') {
        if (place_ + 1 < text_.size() && text_[place_ + 1] != '\n') ++place_;
      } else if (c == quote && (!is_long || text_.substr(place_, 3) == rest.substr(0, 3))) {
        place_ += is_long ? 3 : 1;
        return;
      }
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t place_ = 0;
  std::size_t line_ = 1;
  std::size_t num_items_ = 0;
  int depth_ = 0;     // of lists and inline tables
  int num_dots_ = 0;  // since a key may have begun
};

}  // namespace

void check_toml_bounds(std::string_view text, const std::string& name) {
  BoundsCheck(text, name).run();
}

}  // namespace hesscope::detail
