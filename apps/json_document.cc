// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.h"

#include "number_tables.h"
#include "standard_streams.h"

namespace hesscope::cli {

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

void print_json(const Json& document) { write_text(document.text() + '\n'); }

}  // namespace hesscope::cli
