// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <hesscope/core/printable.h>
#include <hesscope/core/wildcard.h>

namespace hesscope {
namespace {

// All positions that matching may have reached in a pattern, after the text read so far; including
// its end.
class Places {
 public:
  explicit Places(std::string_view pattern) : pattern_(pattern), now_(pattern.size() + 1) {
    enter(0, now_);
  }

  void read(std::string_view character) {
    std::vector<char> next(now_.size());
    for (std::size_t p = 0; p < pattern_.size(); ++p) {
      if (now_[p] != 0) step(p, character, next);
    }
    now_ = std::move(next);
  }

  bool are_at_the_end() const { return now_.back() != 0; }

 private:
  // A star may match nothing: marks the place and all places that stars lead to from it.
  void enter(std::size_t p, std::vector<char>& places) const {
    places[p] = 1;
    while (p < pattern_.size() && pattern_[p] == '*' && places[p + 1] == 0) places[++p] = 1;
  }

  void step(std::size_t p, std::string_view character, std::vector<char>& next) const {
    if (pattern_[p] == '*') return enter(p, next);
    if (pattern_[p] == '?') return enter(p + 1, next);
    if (pattern_.substr(p).starts_with(character)) enter(p + character.size(), next);
    if (pattern_[p] != '[') return;
    const std::size_t end = pattern_.find(']', p);
    if (end == std::string_view::npos) return;
    const std::string_view set = pattern_.substr(p + 1, end - p - 1);
    if (set.find(character) != std::string_view::npos) enter(end + 1, next);
  }

  std::string_view pattern_;
  std::vector<char> now_;
};

}  // namespace

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  Places places(pattern);
  for (const std::string_view character : utf8_characters(text)) places.read(character);
  return places.are_at_the_end();
}

}  // namespace hesscope
