// SPDX-License-Identifier: BSD-3-Clause
//
// Event-based parsing of untrusted JSON. A document tree would need many times the text's size, and
// would silently keep the last of two equal keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hesscope::io {

/// Receives the elements of a JSON text in order. To refuse something, throw.
class JsonEvents {
 public:
  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void negative(std::int64_t value) = 0;     ///< a whole number with a minus sign
  virtual void whole(std::uint64_t value) = 0;       ///< a whole number without a minus sign
  virtual void real(const std::string& text) = 0;    ///< any other number, as written
  virtual void string(const std::string& text) = 0;  ///< a value
  virtual void start_object() = 0;
  virtual void key(const std::string& text) = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
  virtual void not_json() = 0;  ///< the text is invalid from here on; throws

 protected:
  JsonEvents() = default;
  JsonEvents(const JsonEvents&) = default;
  JsonEvents& operator=(const JsonEvents&) = default;
  ~JsonEvents() = default;
};

/// Passes the events of a JSON object to `events`.
/// @param position  byte of the file at which the text begins; advances as the text is read.
/// @throws InputError "<where>: ..." unless the text is one object, possibly surrounded by white
///         space; else what `events` throws.
void parse_json_object(std::string_view text,
                       const std::string& where,
                       std::uint64_t& position,
                       JsonEvents& events);

}  // namespace hesscope::io
