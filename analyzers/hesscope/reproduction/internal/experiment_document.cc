// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <hesscope/core/suggest.h>
#include <hesscope/problem/internal/experiment_reading.h>
#include <hesscope/reproduction/internal/carried_files.h>
#include <hesscope/reproduction/internal/document_keys.h>
#include <hesscope/reproduction/internal/document_merge.h>
#include <hesscope/reproduction/internal/document_overrides.h>
#include <hesscope/reproduction/internal/experiment_document.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/training_order.h>

namespace hesscope::detail {
namespace {

void read_about(const TomlTable& root, ExperimentDocument& document) {
  const auto found = root.tables.find("experiment");
  if (found == root.tables.end()) {
    refuse(root.place("experiment"), "needs a table [experiment] with a 'name'");
  }
  const Settings about = checked(found->second, about_keys(), "[experiment]");
  const auto text = [&](const char* key) { return about.has(key) ? about.text(key) : ""; };
  const auto minutes = [&](const char* key) {
    return about.has(key) ? std::optional(about.real(key)) : std::nullopt;
  };
  document.name = about.text("name");
  require_file_name(document.name, "an experiment", found->second.place("name"));
  document.title = text("title");
  document.paper = text("paper");
  document.published_figures = text("figures");
  document.source = text("source");
  document.note = text("note");
  document.minutes_paper = minutes("minutes_paper");
  document.minutes_quick = minutes("minutes_quick");
  document.may_diverge = about.boolean("may_diverge");
}

// The changes of [scale.NAME]; empty for "paper".
TomlTable scale_changes(const TomlTable& root, const std::string& scale) {
  const auto scales = root.tables.find("scale");
  const bool has_scales = scales != root.tables.end();
  std::vector<std::string> names = {"paper"};
  if (has_scales) {
    for (const auto& [name, table] : scales->second.tables) names.push_back(name);
    if (names.size() != scales->second.locations.size()) {  // one of them is the table itself
      refuse(scales->second.place(), "[scale] holds tables only: [scale.NAME]");
    }
    if (scales->second.tables.contains("paper")) {
      refuse(scales->second.tables.at("paper").place(),
             "the scale 'paper' is the file without changes; name this one otherwise");
    }
  } else if (root.locations.contains("scale")) {
    refuse(root.place("scale"), "'scale' must be tables [scale.NAME]");
  }
  if (scale == "paper") return {};
  if (!has_scales || !scales->second.tables.contains(scale)) {
    refuse(root.place("scale"), "has no scale " + name_among(scale, names));
  }
  return scales->second.tables.at(scale);
}

const std::vector<TomlTable>& tables_of(const TomlTable& root, const std::string& key) {
  static const std::vector<TomlTable> none;
  const auto found = root.table_lists.find(key);
  if (found != root.table_lists.end()) return found->second;
  if (root.locations.contains(key)) {
    refuse(root.place(key), fmt::format("'{}' must be tables [[{}]]", key, key));
  }
  return none;
}

ExperimentVariant variant_from(const TomlTable& root,
                               const TomlTable& table,
                               const TomlTable& changes,
                               const std::filesystem::path& path) {
  const std::vector<SettingKey> keys = variant_keys();
  const std::vector<std::string> parts = {
      "model", "data", "evaluation", "initialization", "training", "monitors", "run"};
  const Settings own = checked(table, keys, "[[variant]]", parts);
  ExperimentVariant variant;
  variant.name = own.text("name");
  require_file_name(variant.name, "a variant", table.place("name"));
  if (variant.name == "figures" || variant.name == kInputsFolder) {
    refuse(table.place("name"),
           fmt::format("a variant cannot be named '{}', which is another folder", variant.name));
  }
  variant.title = own.has("title") ? own.text("title") : variant.name;
  TomlTable overrides = table;
  for (const SettingKey& key : keys) {
    overrides.values.erase(key.name);
    overrides.locations.erase(key.name);
  }
  TomlTable merged = root;
  merge_into(merged, overrides);
  merge_into(merged, changes);
  variant.experiment = experiment_from(merged, path);
  return variant;
}

}  // namespace

bool ExperimentMeasure::covers(const std::string& variant,
                               const std::string& run,
                               std::uint64_t of_seed) const {
  const auto has = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  return has(variants, variant) && has(runs, run) && has(seeds, static_cast<std::int64_t>(of_seed));
}

std::string ExperimentDocument::shown_note() const {
  if (note.empty() || scale == "paper") return note;
  return fmt::format(
      "{} Sizes, steps and seeds that are named here are those of the scale 'paper', not of '{}'.",
      note,
      scale);
}

ExperimentDocument read_experiment_document(TomlTable root,
                                            const std::filesystem::path& path,
                                            const std::string& scale,
                                            const std::vector<std::string>& overrides) {
  ExperimentDocument document;
  document.scale = scale;
  document.overrides = overrides;
  read_about(root, document);
  TomlTable changes = scale_changes(root, scale);
  merge_into(changes, overrides_from(overrides));
  const TomlTable plain = root;  // a variant's changes come between the file and the scale
  merge_into(root, changes);
  std::set<std::string> names;
  for (const TomlTable& table : tables_of(root, "variant")) {
    document.variants.push_back(variant_from(plain, table, changes, path));
    if (!names.insert(document.variants.back().name).second) {
      refuse(table.place("name"),
             fmt::format("there are two variants named '{}'", document.variants.back().name));
    }
  }
  if (document.variants.empty()) {
    document.variants.push_back({"base", document.shown_title(), experiment_from(root, path)});
  }
  document.training_order = training_order(document);
  names.clear();
  for (const TomlTable& table : tables_of(root, "measure")) {
    document.measures.push_back(measure_from(table, document));
    if (!names.insert(document.measures.back().name).second) {
      refuse(table.place("name"),
             fmt::format("there are two measures named '{}'", document.measures.back().name));
    }
  }
  names.clear();
  for (const TomlTable& table : tables_of(root, "figure")) {
    document.figures.push_back(figure_from(table, document));
    if (!names.insert(document.figures.back().name).second) {
      refuse(table.place("name"),
             fmt::format("there are two figures named '{}'", document.figures.back().name));
    }
  }
  return document;
}

}  // namespace hesscope::detail
