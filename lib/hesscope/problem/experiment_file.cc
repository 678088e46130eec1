// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/experiment_keys.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/experiment_reading.h>
#include <hesscope/problem/internal/experiment_runs.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {
namespace {

using detail::refuse;
using detail::TomlTable;
using SettingMap = std::map<std::string, SettingValue>;

// Removes the key that selects a kind from a list and returns that kind.
template <typename Kind>
const Kind& find_kind_in(TomlTable& table,
                         const std::string& key,
                         const std::string& context,
                         std::span<const Kind> kinds) {
  return *find_or_null(kinds, detail::take_kind(table, context, names_of(kinds), key));
}

const TomlTable& required_table(const TomlTable& root, const std::string& name) {
  const auto found = root.tables.find(name);
  if (found == root.tables.end()) refuse(root.place(name), fmt::format("needs a table [{}]", name));
  return found->second;
}

TomlTable table_or_empty(const TomlTable& root, const std::string& name) {
  const auto found = root.tables.find(name);
  if (found != root.tables.end()) return found->second;
  if (root.locations.contains(name)) {
    refuse(root.place(name), fmt::format("'{}' must be a table [{}]", name, name));
  }
  TomlTable empty;
  empty.locations[""] = root.place();
  return empty;
}

// A number that must be above or at a bound; the message names key and value.
std::optional<double> optional_real(const Settings& settings,
                                    const TomlTable& table,
                                    const std::string& key,
                                    bool (*is_fine)(double),
                                    const std::string& range) {
  if (!settings.has(key)) return std::nullopt;
  const double value = settings.real(key);
  if (!is_fine(value)) {
    refuse(table.place(key), fmt::format("'{}' must be {}, got {}", key, range, value));
  }
  return value;
}

DataSettings data_from(TomlTable table, const std::string& context, const std::string& folder) {
  DataSettings data;
  data.location = table.place();
  if (table.locations.contains("file")) {
    data.arrays = detail::take_arrays(table);
    const std::vector<SettingKey> keys = {
        {.name = "file", .meaning = "a data file", .is_path = true}};
    data.path = std::filesystem::path(folder) /
                detail::checked(table, keys, context + " with a file").text("file");
    data.files = {data.path};
    return data;
  }
  const SamplerKind& kind = find_kind_in(table, "kind", context, sampler_kinds());
  data.sampler = kind.name;
  std::vector<SettingKey> keys = kind.keys;
  for (SettingKey& key : detail::sample_keys()) keys.push_back(std::move(key));
  const Settings all =
      detail::checked(table, keys, fmt::format("{} of kind '{}'", context, kind.name));
  if (all.has("samples")) data.samples = all.integer("samples");
  if (all.has("seed")) data.seed = static_cast<std::uint64_t>(all.integer("seed"));
  SettingMap settings = all.values();
  settings.erase("samples");
  settings.erase("seed");
  data.settings = Settings::checked(settings, kind.keys, context, table.locations);
  data.files = kind.files(data.settings, folder);
  return data;
}

// Keys of [evaluation] override those of [data], unless it names its own kind or file.
DataSettings evaluation_from(const TomlTable& evaluation,
                             const TomlTable& data,
                             const std::string& folder) {
  TomlTable table = evaluation;
  if (!table.locations.contains("kind") && !table.locations.contains("file")) {
    for (const auto& [key, value] : data.values) {
      if (key == "samples" || key == "seed" || table.locations.contains(key)) continue;
      table.values[key] = value;
      table.locations[key] = data.place(key);
    }
    if (const auto arrays = data.tables.find("arrays"); arrays != data.tables.end()) {
      table.tables.insert(*arrays);
      table.locations.emplace("arrays", data.place("arrays"));
    }
  }
  DataSettings settings = data_from(table, "[evaluation]", folder);
  if (!settings.sampler.empty()) {
    settings.samples = settings.samples.value_or(1000);
    settings.has_default_seed = !settings.seed;
    settings.seed = settings.seed.value_or(99);
  }
  return settings;
}

InitialDistribution distribution_from(TomlTable table,
                                      const std::string& context,
                                      const std::vector<std::string>& other_keys) {
  const InitialDistributionKind& kind =
      find_kind_in(table, "distribution", context, initial_distribution_kinds());
  return {kind.name,
          detail::checked(
              table, kind.keys, fmt::format("{} with '{}'", context, kind.name), other_keys)};
}

// For a model with parameters of its own, all or some of them may be kept.
Initialization initialization_from(const TomlTable& table, const ModelKind& model) {
  Initialization initialization;
  if (model.has_own_parameters && !table.locations.contains("distribution")) {
    detail::checked(table, {}, "[initialization] without a distribution", {"blocks"});
  } else {
    initialization.otherwise = distribution_from(table, "[initialization]", {"blocks"});
  }
  if (!table.locations.contains("blocks")) return initialization;
  const TomlTable blocks = table_or_empty(table, "blocks");
  std::vector<std::pair<int, std::string>> in_order;
  for (const auto& [pattern, place] : blocks.locations) {
    if (pattern.empty()) continue;
    if (!blocks.tables.contains(pattern)) {
      refuse(place, fmt::format("[initialization.blocks] holds tables, '{}' is none", pattern));
    }
    in_order.emplace_back(blocks.tables.at(pattern).line, pattern);
  }
  std::sort(in_order.begin(), in_order.end());
  for (const auto& [line, pattern] : in_order) {
    initialization.patterns.emplace_back(
        pattern,
        distribution_from(
            blocks.tables.at(pattern), fmt::format("[initialization.blocks.\"{}\"]", pattern), {}));
  }
  return initialization;
}

std::vector<std::uint64_t> seeds_from(const TomlTable& training) {
  if (!training.locations.contains("seeds")) return {0};
  const std::vector<std::int64_t> listed = detail::number_list(training, "seeds");
  std::vector<std::uint64_t> seeds(listed.begin(), listed.end());
  if (seeds.empty() || std::set(seeds.begin(), seeds.end()).size() != seeds.size()) {
    refuse(training.place("seeds"), "'seeds' must be at least one, each of them once");
  }
  return seeds;
}

std::vector<std::string> trained_from(const TomlTable& training) {
  if (!training.locations.contains("trained")) return {"*"};
  std::vector<std::string> patterns = detail::text_list(training, "trained");
  if (patterns.empty()) refuse(training.place("trained"), "'trained' names no parameter");
  return patterns;
}

std::vector<std::int64_t> history_steps_from(const TomlTable& training) {
  const std::vector<std::int64_t> steps = detail::number_list(training, "history_steps");
  const std::set<std::int64_t> sorted(steps.begin(), steps.end());
  return {sorted.begin(), sorted.end()};
}

void read_training(const TomlTable& table, ExperimentFile& experiment) {
  std::vector<std::string> lists;
  for (const ListKey& list : detail::training_lists()) lists.push_back(list.name);
  const Settings training = detail::checked(table, detail::training_keys(), "[training]", lists);
  experiment.num_steps = training.integer("steps");
  experiment.batch = training.integer("batch");
  experiment.checkpoint_every = training.integer("checkpoint_every");
  experiment.history_every = training.integer("history_every");
  experiment.clip_norm = optional_real(
      training, table, "clip_norm", [](double x) { return x > 0; }, "above 0");
  experiment.clip_fraction = optional_real(
      training, table, "clip_fraction", [](double x) { return x >= 0 && x < 1; }, "in [0, 1)");
  experiment.loss_limit = *optional_real(
      training, table, "loss_limit", [](double x) { return x > 0; }, "above 0");
  experiment.seeds = seeds_from(table);
  experiment.trained = trained_from(table);
  experiment.trained_location = table.place("trained");
  experiment.history_steps = history_steps_from(table);
  experiment.monitors = detail::text_list(table, "monitors");
  experiment.monitors_location = table.place("monitors");
}

void read_monitor_options(const TomlTable& table, ExperimentFile& experiment) {
  detail::require_single_values(table, "[monitors]");
  if (!table.values.empty() && experiment.monitors.empty()) {
    refuse(table.place(), "[monitors] has options of monitors: it needs 'monitors' in [training]");
  }
  experiment.monitor_options = table.values;
  experiment.monitor_option_locations = table.locations;
}

}  // namespace

const ExperimentRun* ExperimentFile::find_run(const std::string& name) const {
  const auto found = std::ranges::find(runs, name, &ExperimentRun::name);
  return found == runs.end() ? nullptr : &*found;
}

std::string ExperimentFile::problem_toml(const std::filesystem::path& folder) const {
  const auto moved = [&](const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path from_folder = std::filesystem::proximate(file, folder, error);
    if (!error) return from_folder.string();
    throw InputError(fmt::format(
        "{}: cannot be reached from {}: {}", file.string(), folder.string(), error.message()));
  };
  using Lines = std::vector<std::pair<std::string, SettingValue>>;
  const auto add = [&](Lines& lines, const SettingKey& key, const Settings& settings) {
    if (!settings.has(key.name)) return;
    lines.emplace_back(key.name,
                       key.is_path ? moved(path.parent_path() / settings.text(key.name))
                                   : settings.values().at(key.name));
  };
  Lines of_model = {{"kind", model_kind}};
  for (const SettingKey& key : find_model_kind(model_kind)->keys) add(of_model, key, model);
  Lines of_data;
  if (evaluation.sampler.empty()) {
    of_data.emplace_back("file", moved(evaluation.path));
  } else {
    of_data.emplace_back("kind", evaluation.sampler);
    for (const SettingKey& key : find_sampler_kind(evaluation.sampler)->keys) {
      add(of_data, key, evaluation.settings);
    }
    of_data.emplace_back("samples", *evaluation.samples);
    of_data.emplace_back("seed", static_cast<std::int64_t>(*evaluation.seed));
  }
  return detail::toml_section("model", of_model) + "\n" + detail::toml_section("data", of_data) +
         detail::arrays_toml(evaluation.arrays);
}

ExperimentFile read_experiment_file(const std::filesystem::path& path) {
  return detail::experiment_from(detail::read_toml(path, "experiment file"), path);
}

ExperimentFile detail::experiment_from(const TomlTable& root, const std::filesystem::path& path) {
  const std::string folder = path.parent_path().string();
  detail::checked(root,
                  {},
                  "an experiment file",
                  {"experiment",
                   "model",
                   "data",
                   "evaluation",
                   "initialization",
                   "training",
                   "monitors",
                   "run",
                   "variant",
                   "scale",
                   "measure",
                   "figure"});
  ExperimentFile experiment;
  experiment.path = path;
  const auto text_key = [](const char* name, const char* meaning) {
    return SettingKey{.name = name, .meaning = meaning, .is_optional = true};
  };
  const std::vector<SettingKey> about = {text_key("name", "short name"),
                                         text_key("title", "what it is"),
                                         text_key("source", "where it comes from"),
                                         text_key("note", "what else there is to say")};
  experiment.about =
      detail::checked(table_or_empty(root, "experiment"),
                      about,
                      "[experiment]",
                      {"paper", "figures", "minutes_paper", "minutes_quick", "may_diverge"});

  TomlTable model = required_table(root, "model");
  experiment.model_location = model.place();
  const ModelKind& kind = find_kind_in(model, "kind", "[model]", model_kinds());
  experiment.model_kind = kind.name;
  experiment.model = detail::checked(
      model, kind.keys_with_sizes(), fmt::format("[model] of kind '{}'", kind.name));

  const TomlTable& data = required_table(root, "data");
  experiment.data = data_from(data, "[data]", folder);
  experiment.evaluation = evaluation_from(table_or_empty(root, "evaluation"), data, folder);

  TomlTable initialization = kind.has_own_parameters ? table_or_empty(root, "initialization")
                                                     : required_table(root, "initialization");
  experiment.start = detail::take_start(initialization, folder);
  experiment.initialization_location = initialization.place();
  if (experiment.start && initialization.locations.size() == 1) {  // the table itself
    experiment.initialization = {};
  } else {
    experiment.initialization = initialization_from(initialization, kind);
  }

  const TomlTable& training = required_table(root, "training");
  read_training(training, experiment);
  const bool is_endless = !experiment.data.sampler.empty() && !experiment.data.samples;
  if (is_endless && experiment.data.seed) {
    refuse(data.place("seed"), "'seed' is of a fixed data set: it needs 'samples', too");
  }
  if (is_endless && experiment.batch == 0) {
    refuse(training.place("batch"),
           "[training] needs a 'batch' of at least 1: every step draws fresh samples (a fixed data "
           "set has 'samples' in [data])");
  }
  if (is_endless && experiment.num_steps > 0 &&
      experiment.batch > std::numeric_limits<std::int64_t>::max() / experiment.num_steps) {
    refuse(training.place("batch"),
           fmt::format("{} steps with a 'batch' of {} are more samples than can be numbered",
                       experiment.num_steps,
                       experiment.batch));
  }
  read_monitor_options(table_or_empty(root, "monitors"), experiment);
  experiment.runs = detail::runs_from(root);
  return experiment;
}

}  // namespace hesscope
