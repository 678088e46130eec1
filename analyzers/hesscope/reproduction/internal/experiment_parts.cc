// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/document_keys.h>
#include <hesscope/reproduction/internal/experiment_figure_registry.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/published_values.h>
#include <hesscope/training/internal/history_file.h>

namespace hesscope::detail {
namespace {

using Type = SettingKey::Type;

// Names of keys whose values are lists.
std::vector<std::string> list_names(const std::vector<ListKey>& lists) {
  std::vector<std::string> names;
  for (const ListKey& list : lists) names.push_back(list.name);
  return names;
}

// Names of the quantities with one number for each checkpoint, or of all quantities.
std::vector<std::string> quantities_of(const std::string& analyzer,
                                       const std::map<std::string, SettingValue>& options,
                                       bool with_arrays) {
  const ChosenAnalyzer made = chosen_with(find_analyzer_kind(analyzer), options);
  std::vector<std::string> names;
  for (const Variable& quantity : made.analyzer->declared().variables) {
    const bool is_wanted = with_arrays || quantity.dimensions.empty();
    if (is_wanted && quantity.type != VariableType::kInt8) {
      names.push_back(quantity.name);
    }
  }
  return names;
}

void require_quantity(const std::string& text,
                      const std::string& place,
                      const ExperimentDocument& document,
                      bool with_arrays) {
  const QuantityName quantity = quantity_name(text);
  if (quantity.name.empty()) {
    refuse(place,
           fmt::format("a quantity is GROUP/NAME, as in history/loss or condition/classical, or "
                       "MEASURE/GROUP/NAME; got '{}'",
                       text));
  }
  const bool is_of_any = quantity.measure.empty();
  if (!is_of_any) require_known({quantity.measure}, names_of(document.measures), "measure", place);
  std::vector<std::string> groups;
  if (is_of_any) groups.emplace_back("history");
  std::vector<std::string> names = history_quantities();
  const auto add = [&](const std::string& analyzer,
                       const std::map<std::string, SettingValue>& options) {
    if (quantity.group == analyzer) names = quantities_of(analyzer, options, with_arrays);
    if (std::find(groups.begin(), groups.end(), analyzer) == groups.end()) {
      groups.push_back(analyzer);
    }
  };
  for (const ExperimentMeasure& measure : document.measures) {
    if (!is_of_any && measure.name != quantity.measure) continue;
    for (const std::string& analyzer : measure.analyzers) add(analyzer, measure.options);
  }
  for (const ExperimentVariant& variant : document.variants) {
    if (!is_of_any) break;
    for (const std::string& analyzer : variant.experiment.monitors) {
      add(analyzer, variant.experiment.monitor_options);
    }
  }
  require_known({quantity.group}, groups, "group of quantities that is measured", place);
  require_known({quantity.name}, names, "quantity of " + quantity.group, place);
}

FigureEvent event_from(const TomlTable& table, const ExperimentDocument& document) {
  const Settings settings = checked(table, event_keys(), "[[figure.event]]");
  FigureEvent event{.name = settings.text("name"),
                    .quantity = settings.text("quantity"),
                    .is_above = settings.has("above")};
  require_quantity(event.quantity, table.place("quantity"), document, false);
  if (settings.has("above") == settings.has("below")) {
    refuse(table.place(), "[[figure.event]] needs one of 'above' and 'below', a level");
  }
  event.level = settings.real(event.is_above ? "above" : "below");
  return event;
}

FigureMark mark_from(const TomlTable& table) {
  const Settings settings = checked(table, mark_keys(), "[[figure.mark]]");
  return {.name = settings.text("name"), .step = settings.integer("step")};
}

// If a part of the file is restricted to some seeds, at least one of them must be trained.
void require_trained(const std::vector<std::int64_t>& seeds,
                     const std::vector<std::string>& variants,
                     const ExperimentDocument& document,
                     const std::string& key,
                     const std::string& place) {
  std::set<std::uint64_t> trained;
  for (const ExperimentVariant& variant : document.variants) {
    if (!variants.empty() && std::ranges::find(variants, variant.name) == variants.end()) continue;
    trained.insert(variant.experiment.seeds.begin(), variant.experiment.seeds.end());
  }
  const auto is_trained = [&](std::int64_t seed) {
    return trained.contains(static_cast<std::uint64_t>(seed));
  };
  if (seeds.empty() || std::ranges::any_of(seeds, is_trained)) return;
  refuse(place,
         fmt::format("{} is [{}], of which none is among training.seeds, [{}]; change one "
                     "or the other",
                     key,
                     fmt::join(seeds, ", "),
                     fmt::join(trained, ", ")));
}

}  // namespace

void require_known(const std::vector<std::string>& names,
                   const std::vector<std::string>& known,
                   const std::string& what,
                   const std::string& place) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    refuse(place, fmt::format("there is no {} {}", what, name_among(name, known)));
  }
}

QuantityName quantity_name(const std::string& text) {
  const std::size_t last = text.rfind('/');
  if (last == std::string::npos) return {"", text, ""};
  const std::size_t first = text.find('/');
  const std::size_t group = first == last ? 0 : first + 1;
  return {group == 0 ? "" : text.substr(0, first),
          text.substr(group, last - group),
          text.substr(last + 1)};
}

std::vector<std::string> variant_names(const ExperimentDocument& document) {
  return names_of(document.variants);
}

std::vector<std::string> run_names(const ExperimentDocument& document) {
  std::vector<std::string> names;
  for (const ExperimentVariant& variant : document.variants) {
    for (const ExperimentRun& run : variant.experiment.runs) {
      if (std::find(names.begin(), names.end(), run.name) == names.end()) names.push_back(run.name);
    }
  }
  return names;
}

std::vector<std::string> families_of(const ExperimentDocument& document,
                                     const ExperimentFigure& figure) {
  std::vector<std::string> families;
  for (const std::string& variant : figure.variants) {
    const ExperimentFile& experiment = find_or_null(document.variants, variant)->experiment;
    for (const std::string& name : figure.runs) {
      const ExperimentRun* run = experiment.find_run(name);
      if (run == nullptr || std::ranges::find(families, run->family) != families.end()) continue;
      families.push_back(run->family);
    }
  }
  return families;
}

ExperimentMeasure measure_from(const TomlTable& table, const ExperimentDocument& document) {
  ExperimentMeasure measure;
  measure.location = table.place();
  measure.analyzers = text_list(table, "analyzers");
  if (measure.analyzers.empty()) refuse(table.place("analyzers"), "[[measure]] needs 'analyzers'");
  std::vector<SettingKey> keys = measure_keys();
  std::vector<SettingKey> options;
  for (const std::string& name : measure.analyzers) {
    try {
      const AnalyzerKind& entry = find_analyzer_kind(name);
      options.insert(options.end(), entry.options.begin(), entry.options.end());
    } catch (const ConfigError& error) {
      refuse(table.place("analyzers"), error.what());
    }
  }
  keys.insert(keys.end(), options.begin(), options.end());
  const Settings settings = checked(table, keys, "[[measure]]", list_names(measure_lists()));
  measure.name = settings.text("name");
  require_file_name(measure.name, "a measure", table.place("name"));
  if (measure.name == "history" || measure.name.starts_with("step-")) {
    refuse(table.place("name"),
           fmt::format("a measure cannot be named '{}', which is a file of the training",
                       measure.name));
  }
  measure.method = spectrum_method_of(settings.text("method"));
  measure.seed = static_cast<std::uint64_t>(settings.integer("seed"));
  if (settings.has("samples")) measure.samples = settings.integer("samples");
  for (const SettingKey& key : options) {
    if (table.values.contains(key.name)) measure.options[key.name] = settings.values().at(key.name);
  }
  measure.checkpoints = number_list(table, "checkpoints");
  measure.variants = text_list(table, "variants");
  measure.runs = text_list(table, "runs");
  measure.seeds = number_list(table, "seeds");
  require_known(measure.variants, variant_names(document), "variant", table.place("variants"));
  require_known(measure.runs, run_names(document), "run", table.place("runs"));
  require_trained(measure.seeds,
                  measure.variants,
                  document,
                  "measure." + measure.name + ".seeds",
                  table.place("seeds"));
  for (const ExperimentVariant& variant : document.variants) {
    const bool is_measured =
        measure.variants.empty() ||
        std::ranges::find(measure.variants, variant.name) != measure.variants.end();
    if (!measure.samples || !is_measured || !variant.experiment.evaluation.sampler.empty()) {
      continue;
    }
    refuse(table.place("samples"),
           fmt::format("the samples of variant '{}' are those of a file: no others can be drawn",
                       variant.name));
  }
  return measure;
}

ExperimentFigure figure_from(const TomlTable& table, const ExperimentDocument& document) {
  TomlTable rest = table;
  const std::string name = take_kind(rest, "[[figure]]", names_of(experiment_figure_kinds()));
  ExperimentFigure figure;
  figure.location = table.place();
  figure.kind = find_or_null(experiment_figure_kinds(), name);
  figure.settings = checked(rest,
                            figure_keys(*figure.kind),
                            fmt::format("[[figure]] of kind '{}'", name),
                            list_names(figure_lists(*figure.kind)));
  const auto text = [&](const char* key) {
    return figure.settings.has(key) ? figure.settings.text(key) : "";
  };
  figure.name = text("name");
  require_file_name(figure.name, "a figure", table.place("name"));
  figure.title = text("title");
  figure.published = text("published");
  const auto chosen = [&](const char* key, const std::vector<std::string>& all, const char* what) {
    std::vector<std::string> names = text_list(table, key);
    require_known(names, all, what, table.place(key));
    return names.empty() ? all : names;
  };
  figure.variants = chosen("variants", variant_names(document), "variant");
  figure.runs = chosen("runs", run_names(document), "run");
  figure.steps = number_list(table, "steps");
  figure.seeds = number_list(table, "seeds");
  require_trained(figure.seeds,
                  figure.variants,
                  document,
                  "figure." + figure.name + ".seeds",
                  table.place("seeds"));
  if (figure.settings.has("seed")) {
    require_trained({figure.settings.integer("seed")},
                    figure.variants,
                    document,
                    "figure." + figure.name + ".seed",
                    table.place("seed"));
  }
  figure.quantities = text_list(table, "quantities");
  for (const char* key : kQuantityKeys) {
    if (figure.settings.has(key)) {
      require_quantity(text(key), table.place(key), document, figure.kind->takes_arrays);
    }
  }
  for (const char* key : {"numerator", "denominator"}) {
    if (figure.settings.has(key)) require_known({text(key)}, figure.runs, "run", table.place(key));
  }
  for (const std::string& quantity : figure.quantities) {
    require_quantity(quantity, table.place("quantities"), document, figure.kind->takes_arrays);
  }
  if (figure.kind->takes_quantities && figure.quantities.empty()) {
    refuse(table.place("quantities"),
           fmt::format("a figure of kind '{}' needs 'quantities'", name));
  }
  figure.headings = text_list(table, "headings");
  if (!figure.headings.empty() && figure.headings.size() != figure.quantities.size()) {
    refuse(table.place("headings"),
           fmt::format("'headings' are of the quantities: {} of them, got {}",
                       figure.quantities.size(),
                       figure.headings.size()));
  }
  const auto events = table.table_lists.find("event");
  if (events != table.table_lists.end()) {
    for (const TomlTable& event : events->second) {
      figure.events.push_back(event_from(event, document));
    }
  }
  const auto marks = table.table_lists.find("mark");
  if (marks != table.table_lists.end()) {
    for (const TomlTable& mark : marks->second) figure.marks.push_back(mark_from(mark));
  }
  if (figure.kind->takes_events && figure.events.empty()) {
    refuse(table.place("event"), fmt::format("a figure of kind '{}' needs [[figure.event]]", name));
  }
  if (figure.kind->check != nullptr) {
    try {
      figure.kind->check(figure, document);
    } catch (const ConfigError& error) {
      refuse(figure.location, error.what());
    }
  }
  const auto published = table.table_lists.find("published_values");
  if (published != table.table_lists.end()) {
    for (const TomlTable& value : published->second) {
      figure.published_values.push_back(published_from(value, figure, document));
    }
  }
  return figure;
}

}  // namespace hesscope::detail
