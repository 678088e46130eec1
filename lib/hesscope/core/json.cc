// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <nlohmann/json.hpp>

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
    for (std::size_t i = 0; i < object.names.size(); ++i) {
      result[object.names[i]] = std::visit(*this, object.values[i].value_);
    }
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

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
  auto& [names, values] = std::get<Object>(value_);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return values[static_cast<std::size_t>(found - names.begin())];
  names.emplace_back(name);
  return values.emplace_back();
}

void Json::push_back(Json value) { std::get<List>(value_).push_back(std::move(value)); }

std::string Json::text() const { return dumped(2); }

std::string Json::compact() const { return dumped(-1); }

std::string Json::dumped(int indent) const {
  using Library = nlohmann::ordered_json;
  return std::visit(Writer(), value_).dump(indent, ' ', false, Library::error_handler_t::replace);
}

}  // namespace hesscope
