// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hesscope/core/error.h>
#include <hesscope/core/json.h>

namespace hesscope {

// Creates the JSON library's value, which can be written.
struct Json::Writer {
  using Result = nlohmann::ordered_json;

  Result operator()(const List& list) const {
    Result result = Result::array();
    for (const Json& each : list) result.push_back(std::visit(*this, each.value_));
    return result;
  }

  Result operator()(const Object& object) const {
    Result result = Result::object();
    for (const auto& [name, value] : object) result[name] = std::visit(*this, value.value_);
    return result;
  }

  template <typename Scalar>
  Result operator()(const Scalar& scalar) const {
    return Result(scalar);
  }
};

Json::Json(std::initializer_list<Member> members) : Json(object()) {
  for (const Member& member : members) (*this)[member.name] = member.value;
}

Json Json::list() {
  Json json;
  json.value_ = List();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

// The value as a T; nothing becomes an empty one.
template <typename T>
T& Json::become(const char* what) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = T();
  if (T* const value = std::get_if<T>(&value_)) return *value;
  throw PreconditionError(fmt::format("Json: expected {}, got {:.60}", what, compact()));
}

Json& Json::operator[](std::string_view name) {
  auto& members = become<Object>("an object");
  const auto found = std::find_if(
      members.begin(), members.end(), [&](const auto& member) { return member.first == name; });
  return found != members.end() ? found->second : members.emplace_back(name, Json()).second;
}

void Json::push_back(Json value) { become<List>("a list").push_back(std::move(value)); }

std::string Json::text() const { return dumped(2); }

std::string Json::compact() const { return dumped(-1); }

std::string Json::dumped(int indent) const {
  using Library = nlohmann::ordered_json;
  return std::visit(Writer(), value_).dump(indent, ' ', false, Library::error_handler_t::replace);
}

}  // namespace hesscope
