// SPDX-License-Identifier: BSD-3-Clause
//
// JSON documents, for writing.
//
//   Json document = {{"command", "plot"}, {"output", path}};
//   document["figures"] = names;       // any range
//   document.text();
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace hesscope {

template <typename T>
concept JsonRange = std::ranges::range<T> && !std::convertible_to<const T&, std::string_view>;

/// A value of a JSON document: nothing, a scalar, a list, or an object, whose members keep the
/// order in which they were set. NaN and infinity, which JSON cannot express, are written as null.
class Json {
  using List = std::vector<Json>;

 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): values convert, so that documents read like JSON
  Json(std::nullptr_t = nullptr) {}

  Json(bool value) : value_(value) {}

  Json(double value) : value_(value) {}

  Json(const char* text) : value_(std::string(text)) {}

  Json(std::string_view text) : value_(std::string(text)) {}

  Json(std::string text) : value_(std::move(text)) {}

  template <std::integral Integer>
  Json(Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      value_ = static_cast<std::int64_t>(value);
    } else {
      value_ = static_cast<std::uint64_t>(value);
    }
  }

  template <typename Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}

  /// A list of the elements of a range.
  template <JsonRange Range>
  Json(const Range& range) : Json(list()) {
    List& elements = std::get<List>(value_);
    for (const auto& each : range) elements.emplace_back(each);
  }

  // NOLINTEND(google-explicit-constructor)

  /// An object.
  Json(std::initializer_list<Member> members);

  static Json list();
  static Json object();

  /// The member of this name, created as null if absent. The reference stays valid when members are
  /// added. @throws PreconditionError unless the value is an object, or nothing, which becomes one.
  Json& operator[](std::string_view name);

  /// @throws PreconditionError unless the value is a list, or nothing, which becomes one.
  void push_back(Json value);

  /// The document on several lines, indented by two spaces. Bytes that are not UTF-8, as paths may
  /// hold, are replaced.
  std::string text() const;

  /// The same on one line, without spaces.
  std::string compact() const;

 private:
  using Object = std::list<std::pair<std::string, Json>>;  // a list, so that members never move
  struct Writer;

  template <typename T>
  T& become(const char* what);

  std::string dumped(int indent) const;

  std::variant<std::nullptr_t, bool, double, std::int64_t, std::uint64_t, std::string, List, Object>
      value_;
};

struct Json::Member {
  std::string_view name;
  Json value;
};

}  // namespace hesscope
