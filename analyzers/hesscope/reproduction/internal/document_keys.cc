// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <fmt/format.h>

#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/reproduction/internal/document_keys.h>
#include <hesscope/reproduction/internal/experiment_figure_registry.h>
#include <hesscope/reproduction/reproduction.h>

namespace hesscope {
namespace detail {
namespace {

using Type = SettingKey::Type;

SettingKey optional_text(const std::string& name, const std::string& meaning) {
  return {.name = name, .meaning = meaning, .is_optional = true};
}

SettingKey minutes_key(const std::string& scale) {
  return {.name = "minutes_" + scale,
          .type = Type::kReal,
          .meaning = fmt::format("that the scale '{}' takes on two cores", scale),
          .is_optional = true};
}

}  // namespace

std::vector<SettingKey> about_keys() {
  return {{.name = "name", .meaning = "of the experiment and its folder"},
          optional_text("title", "in one line"),
          optional_text("paper", "from which these figures are"),
          optional_text("figures", "of the paper"),
          optional_text("source", "where the settings are from"),
          optional_text("note", "what differs from the paper"),
          minutes_key("paper"),
          minutes_key("quick"),
          {.name = "may_diverge",
           .type = Type::kBoolean,
           .meaning = "a run that diverges is an outcome, not a failure",
           .fallback = SettingValue(false)}};
}

std::vector<SettingKey> variant_keys() {
  return {{.name = "name", .meaning = "of the variant and its folder"},
          optional_text("title", "for figures")};
}

std::vector<SettingKey> measure_keys() {
  return {{.name = "name",
           .meaning = "name of its result file",
           .fallback = SettingValue(std::string("analysis"))},
          {.name = "method",
           .meaning = "how eigenvalues are found",
           .choices = names_of_methods_alone(),
           .fallback = SettingValue(std::string("auto"))},
          {.name = "seed",
           .type = Type::kInteger,
           .meaning = "seed of all random numbers",
           .minimum = 0,
           .fallback = SettingValue(std::int64_t{0})},
          {.name = "samples",
           .type = Type::kInteger,
           .meaning = "how many to draw, in the same way as those of [evaluation]",
           .minimum = 1,
           .is_optional = true}};
}

std::vector<ListKey> measure_lists() {
  return {{"analyzers", "names of analyzers, whose options are keys, too", "required"},
          {"checkpoints", "steps", "all"},
          {"variants", "names", "all"},
          {"runs", "names", "all"},
          {"seeds", "of training", "all"}};
}

std::vector<SettingKey> figure_keys(const ExperimentFigureKind& kind) {
  std::vector<SettingKey> keys = {
      {.name = "name", .meaning = "of its files"},
      optional_text("title", "above the figure"),
      optional_text("published", "which part of the paper it reproduces")};
  if (kind.has_equal_axes) {
    keys.push_back({.name = "share_scales",
                    .type = Type::kBoolean,
                    .meaning = "whether all panels have the same scales and colours",
                    .fallback = SettingValue(true)});
  }
  keys.insert(keys.end(), kind.keys.begin(), kind.keys.end());
  return keys;
}

std::vector<ListKey> figure_lists(const ExperimentFigureKind& kind) {
  std::vector<ListKey> lists = {{"variants", "names", "all"}, {"runs", "names", "all"}};
  if (kind.published) {
    lists.push_back({"published_values", "tables [[figure.published_values]]", ""});
  }
  if (kind.steps_if_absent != nullptr) {
    lists.push_back({"steps", "of training", kind.steps_if_absent});
  }
  if (kind.takes_quantities) lists.push_back({"quantities", "each GROUP/NAME", "required"});
  if (kind.takes_headings) {
    lists.push_back({"headings", "of the quantities", "what their files call them"});
  }
  if (kind.takes_seeds) lists.push_back({"seeds", "of training", "all"});
  if (kind.takes_events) lists.push_back({"event", "tables [[figure.event]]", "required"});
  if (kind.takes_marks) lists.push_back({"mark", "tables [[figure.mark]]", ""});
  return lists;
}

std::vector<SettingKey> event_keys() {
  return {{.name = "name", .meaning = "of the event"},
          {.name = "quantity", .meaning = "GROUP/NAME"},
          {.name = "above", .type = Type::kReal, .meaning = "at least this", .is_optional = true},
          {.name = "below", .type = Type::kReal, .meaning = "at most this", .is_optional = true}};
}

std::vector<SettingKey> mark_keys() {
  return {{.name = "name", .meaning = "beside the line"},
          {.name = "step", .type = Type::kInteger, .meaning = "of training", .minimum = 0}};
}

std::vector<SettingKey> published_keys() {
  return {{.name = "variant", .meaning = "of this file"},
          optional_text("run", "of the figure; for kind rates, a family of its runs"),
          optional_text("quantity", "one that the figure has"),
          {.name = "step",
           .type = Type::kInteger,
           .meaning = "of training, one that the figure has",
           .minimum = 0,
           .is_optional = true},
          {.name = "mean", .type = Type::kReal, .meaning = "the number", .is_optional = true},
          {.name = "std", .type = Type::kReal, .meaning = "over seeds", .is_optional = true},
          {.name = "seeds",
           .type = Type::kInteger,
           .meaning = "number of seeds behind mean and std; as many as ours if absent",
           .minimum = 1,
           .is_optional = true},
          {.name = "least",
           .type = Type::kReal,
           .meaning = "smallest number of a claimed range, instead of mean",
           .is_optional = true},
          {.name = "most", .type = Type::kReal, .meaning = "the same", .is_optional = true},
          {.name = "source", .meaning = "who says so"}};
}

}  // namespace detail

std::vector<FileTable> reproduction_file_tables() {
  std::vector<FileTable> tables = {
      {.heading = "[experiment]", .summary = "what it is about", .keys = detail::about_keys()},
      {.heading = "[[variant]]",
       .summary = "keys of the tables above that replace those of the file: data.context = 5",
       .keys = detail::variant_keys()},
      {.heading = "[scale.NAME]",
       .summary =
           "keys that replace those of all tables where this scale is chosen: training.steps = 200",
       .keys = {}},
      {.heading = "[[measure]]",
       .summary = "analyzers over the checkpoints, with their options",
       .keys = detail::measure_keys(),
       .lists = detail::measure_lists()}};
  for (const detail::ExperimentFigureKind& kind : detail::experiment_figure_kinds()) {
    tables.push_back({.heading = fmt::format("[[figure]] kind = \"{}\"", kind.name),
                      .summary = kind.summary,
                      .keys = detail::figure_keys(kind),
                      .lists = detail::figure_lists(kind)});
  }
  tables.push_back({.heading = "[[figure.event]]",
                    .summary = "a level: one of above and below",
                    .keys = detail::event_keys()});
  tables.push_back({.heading = "[[figure.mark]]",
                    .summary = "a line across each panel",
                    .keys = detail::mark_keys()});
  tables.push_back({.heading = "[[figure.published_values]]",
                    .summary = "a number of others beside ours",
                    .keys = detail::published_keys()});
  return tables;
}

}  // namespace hesscope
