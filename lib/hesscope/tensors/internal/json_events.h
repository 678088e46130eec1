// SPDX-License-Identifier: BSD-3-Clause
//
// JSON that a stranger wrote, event by event. A document tree would need many times the text's
// size, and would keep the last of two equal keys without a word. Includes nlohmann's parser, so
// for .cc files only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hesscope/core/error.h>

namespace hesscope::io {

/// Tells where the parser has got to, which its events do not say.
class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;

  CountingIterator(const char* at, std::uint64_t* count) : at_(at), count_(count) {}

  reference operator*() const { return *at_; }

  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }

  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }

  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_ = nullptr;
  std::uint64_t* count_ = nullptr;
};

/// Hands the events of a JSON object to `events`, a nlohmann::json_sax in shape.
/// @param position  byte of the file at which the text begins; moves on as the text is read.
/// @throws InputError "<where>: ..." unless the text is one object between white space; else what
///         `events` throws.
template <typename Events>
void parse_json_object(std::string_view text,
                       const std::string& where,
                       std::uint64_t& position,
                       Events& events) {
  // The parser takes a byte order mark for white space, and a NUL for the end of the text.
  const std::size_t brace = text.find_first_not_of(" \t\n\r");
  const std::size_t nul = text.find('\0');
  if (brace == std::string_view::npos || text[brace] != '{' || nul != std::string_view::npos) {
    const std::size_t at = nul != std::string_view::npos ? nul : brace;
    throw InputError(
        fmt::format("{}: a JSON object between white space is expected at byte {} of "
                    "the file, but byte {} is none of it",
                    where,
                    position,
                    position + (at == std::string_view::npos ? 0 : at)));
  }
  nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                            CountingIterator(text.data() + text.size(), &position),
                            &events);
}

}  // namespace hesscope::io
