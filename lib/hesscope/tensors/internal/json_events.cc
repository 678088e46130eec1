// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/json_events.h>

namespace hesscope::io {
namespace {

// Counts the parser's position, which its events do not report.
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

// The functions that nlohmann's parser calls; returning true lets it continue.
class Sax {
 public:
  explicit Sax(JsonEvents& events) : events_(events) {}

  bool null() { return events_.null(), true; }

  bool boolean(bool value) { return events_.boolean(value), true; }

  bool number_integer(std::int64_t value) { return events_.negative(value), true; }

  bool number_unsigned(std::uint64_t value) { return events_.whole(value), true; }

  bool number_float(double, const std::string& text) { return events_.real(text), true; }

  bool string(const std::string& text) { return events_.string(text), true; }

  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON text has none

  bool start_object(std::size_t) { return events_.start_object(), true; }

  bool key(const std::string& text) { return events_.key(text), true; }

  bool end_object() { return events_.end_object(), true; }

  bool start_array(std::size_t) { return events_.start_array(), true; }

  bool end_array() { return events_.end_array(), true; }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
    return events_.not_json(), false;
  }

 private:
  JsonEvents& events_;
};

}  // namespace

void parse_json_object(std::string_view text,
                       const std::string& where,
                       std::uint64_t& position,
                       JsonEvents& events) {
  // The parser treats a byte order mark as white space, and a NUL as the end of the text.
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
  Sax sax(events);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                            CountingIterator(text.data() + text.size(), &position),
                            &sax);
}

}  // namespace hesscope::io
