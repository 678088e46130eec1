// SPDX-License-Identifier: BSD-3-Clause
//
// JSON that a stranger wrote, event by event. A document tree would need many times the text's
// size, and would keep the last of two equal keys without a word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hesscope::io {

/// What is found in a JSON text, in its order. Whoever refuses something throws.
class JsonEvents {
 public:
  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void negative(std::int64_t value) = 0;     ///< a whole number after a minus sign
  virtual void whole(std::uint64_t value) = 0;       ///< a whole number from 0 on
  virtual void real(const std::string& text) = 0;    ///< another number, as it is written
  virtual void string(const std::string& text) = 0;  ///< a value
  virtual void start_object() = 0;
  virtual void key(const std::string& text) = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
  virtual void not_json() = 0;  ///< from here on; throws

 protected:
  JsonEvents() = default;
  JsonEvents(const JsonEvents&) = default;
  JsonEvents& operator=(const JsonEvents&) = default;
  ~JsonEvents() = default;
};

/// Hands the events of a JSON object to `events`.
/// @param position  byte of the file at which the text begins; moves on as the text is read.
/// @throws InputError "<where>: ..." unless the text is one object between white space; else what
///         `events` throws.
void parse_json_object(std::string_view text,
                       const std::string& where,
                       std::uint64_t& position,
                       JsonEvents& events);

}  // namespace hesscope::io
