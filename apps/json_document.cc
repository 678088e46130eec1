// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace hesscope::cli {

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void add_numbers(Json& entry, const std::vector<HeadlineNumber>& numbers) {
  for (const HeadlineNumber& number : numbers) {
    Json& group = entry[number.analyzer];
    group[number.name] = !number.word.empty() ? Json(number.word)
                         : number.is_count    ? Json(static_cast<std::int64_t>(number.value))
                                              : json_number(number.value);
    if (number.status != Status::kOk) group[number.name + "_status"] = to_string(number.status);
  }
}

Json json_of(const CheckpointSummary& summary) {
  Json entry;
  entry["file"] = summary.checkpoint.path.string();
  entry["step"] = summary.checkpoint.step ? Json(*summary.checkpoint.step) : Json(nullptr);
  entry["sha256"] = summary.sha256;
  entry["status"] = to_string(summary.status);
  entry["loss"] = json_number(summary.loss);
  entry["gradient_norm"] = json_number(summary.gradient_norm);
  add_numbers(entry, summary.numbers);
  return entry;
}

void print_json(const Json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace hesscope::cli
