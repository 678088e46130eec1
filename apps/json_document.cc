// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "number_tables.h"

namespace hesscope::cli {

// Makes the library's value, which knows how to write it.
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

std::string Json::text() const {
  using Library = nlohmann::ordered_json;
  return std::visit(Writer(), value_).dump(2, ' ', false, Library::error_handler_t::replace);
}

void set_number(Json& object, const std::string& name, Json value, Status status) {
  object[name] = std::move(value);
  if (status != Status::kOk) object[name + "_status"] = to_string(status);
}

void add_numbers(Json& entry, const std::vector<HeadlineNumber>& numbers) {
  for (const HeadlineNumber& number : numbers) {
    set_number(entry[number.analyzer],
               number.name,
               !number.word.empty() ? Json(number.word)
               : number.is_count    ? Json(static_cast<std::int64_t>(number.value))
                                    : Json(number.value),
               number.status);
  }
}

Json json_of(const std::vector<CheckpointSummary>& checkpoints) {
  Json list = Json::list();
  for (const CheckpointSummary& summary : checkpoints) {
    Json entry = {{"file", summary.checkpoint.path.string()},
                  {"step", summary.checkpoint.step},
                  {"sha256", summary.sha256},
                  {"status", to_string(summary.status)}};
    set_number(entry, "loss", summary.loss, loss_status(summary));
    set_number(entry, "gradient_norm", summary.gradient_norm, summary.status);
    add_numbers(entry, summary.numbers);
    list.push_back(entry);
  }
  return list;
}

void print_json(const Json& document) { fmt::print("{}\n", document.text()); }

}  // namespace hesscope::cli
