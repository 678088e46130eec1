// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/models/model_registry.h>
#include <hesscope/optim/initialization.h>
#include <hesscope/optim/update_rule_registry.h>
#include <hesscope/problem/experiment_keys.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {
namespace {

using Type = SettingKey::Type;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

SettingKey integer_key(const std::string& name,
                       const std::string& meaning,
                       std::int64_t minimum,
                       std::optional<std::int64_t> fallback) {
  SettingKey key{.name = name,
                 .type = Type::kInteger,
                 .meaning = meaning,
                 .minimum = minimum,
                 .maximum = kMaxCount};
  if (fallback) key.fallback = SettingValue(*fallback);
  return key;
}

SettingKey optional_key(const std::string& name, Type type, const std::string& meaning) {
  return {.name = name, .type = type, .meaning = meaning, .is_optional = true};
}

std::vector<SettingKey> joined(std::vector<SettingKey> first,
                               const std::vector<SettingKey>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

FileTable training_table() {
  return {.heading = "[training]",
          .summary = "how long, on what, and what is kept",
          .keys = detail::training_keys(),
          .lists = detail::training_lists()};
}

}  // namespace

std::vector<SettingKey> detail::training_keys() {
  return {
      integer_key("steps", "number of updates", 0, std::nullopt),
      integer_key("batch", "samples in a batch; 0 = all of a fixed data set", 0, 0),
      optional_key("clip_norm", Type::kReal, "largest norm of a gradient"),
      optional_key("clip_fraction", Type::kReal, "share of a gradient's coordinates to be clipped"),
      {.name = "loss_limit",
       .type = Type::kReal,
       .meaning = "batch losses above it, ten in a row, count as divergence",
       .fallback = SettingValue(1e20)},
      integer_key("checkpoint_every", "steps from checkpoint to checkpoint", 0, 0),
      integer_key("history_every", "steps from one look at the loss to the next", 0, 50)};
}

std::vector<ListKey> detail::training_lists() {
  return {{"seeds", "of data and initialisation: a training for each", "[0]"},
          {"trained",
           "names of parameters, '*' stands for any characters, '?' for one, [ab] for a or b",
           "all"},
          {"history_steps", "further steps with a row in the history", ""},
          {"monitors", "analyzers that look at each row of the history", ""}};
}

std::vector<SettingKey> detail::sample_keys() {
  SettingKey samples = optional_key(
      "samples", Type::kInteger, "number of samples, a fixed set; absent in [data]: fresh ones");
  samples.minimum = 1;
  samples.maximum = kMaxCount;
  SettingKey seed = optional_key("seed", Type::kInteger, "seed of a fixed data set");
  seed.minimum = 0;
  return {std::move(samples), std::move(seed)};
}

std::vector<SettingKey> detail::run_keys() {
  return {{.name = "name", .meaning = "of the run and its folder"},
          optional_key("title", Type::kText, "of the run in figures; absent: its name"),
          optional_key("learning_rate", Type::kReal, "step length of the rule")};
}

std::vector<FileTable> experiment_file_tables() {
  std::vector<FileTable> tables;
  for (const ModelKind& kind : model_kinds()) {
    tables.push_back({.heading = fmt::format("[model] kind = \"{}\"", kind.name),
                      .summary = kind.summary,
                      .keys = kind.keys_with_sizes()});
  }
  const std::string evaluation =
      "; [evaluation] takes the same, those of [data] if absent, but its own samples, 1000 if "
      "absent, and seed, 99";
  for (const SamplerKind& kind : sampler_kinds()) {
    tables.push_back({.heading = fmt::format("[data] kind = \"{}\"", kind.name),
                      .summary = kind.summary + evaluation,
                      .keys = joined(kind.keys, detail::sample_keys())});
  }
  tables.push_back({.heading = "[data] without a kind",
                    .summary = "a data file, with [data.arrays] as in a problem file" + evaluation,
                    .keys = {{.name = "file", .meaning = "a data file", .is_path = true}}});
  for (const InitialDistributionKind& kind : initial_distribution_kinds()) {
    tables.push_back({.heading = fmt::format("[initialization] distribution = \"{}\"", kind.name),
                      .summary = kind.summary +
                                 "; of all parameters, [initialization.blocks.\"PATTERN\"] of "
                                 "those so named",
                      .keys = kind.keys});
  }
  tables.push_back(
      {.heading = "[initialization] without a distribution",
       .summary = "parameters from elsewhere",
       .keys = {
           optional_key("from_checkpoint", Type::kText, "a file; {seed} stands for the seed"),
           optional_key("from", Type::kText, "VARIANT/RUN of a reproduction, where that ends")}});
  tables.push_back(training_table());
  tables.push_back({.heading = "[monitors]",
                    .summary = "options of the monitors, as `hesscope analyze` names them: "
                               "batch-sharpness = \"1,8\"",
                    .keys = {}});
  for (const UpdateRuleKind& kind : update_rule_kinds()) {
    tables.push_back({.heading = fmt::format("[[run]] rule = \"{}\"", kind.name),
                      .summary = kind.summary,
                      .keys = joined(detail::run_keys(), kind.keys),
                      .lists = {{"learning_rates", "instead of one: a run NAME-RATE each", ""}}});
  }
  return tables;
}

std::string absent_text(const SettingKey& key) {
  if (const auto* value = std::get_if<SettingValue>(&key.fallback)) {
    const auto* real = std::get_if<double>(value);
    return real != nullptr ? fmt::format("{}", *real) : detail::toml_text(*value);
  }
  return key.is_optional ? "optional" : "required";
}

std::string type_text(const SettingKey& key) {
  switch (key.type) {
    case Type::kBoolean:
      return "true | false";
    case Type::kReal:
      return "number";
    case Type::kText:
      return key.choices.empty() ? "text" : fmt::format("{}", fmt::join(key.choices, " | "));
    case Type::kTexts:
    case Type::kReals:
    case Type::kTable:
      return std::string(to_string(key.type));
    case Type::kInteger:
      break;
  }
  if (key.minimum == INT64_MIN) return "whole number";
  return fmt::format("whole number from {}", key.minimum);
}

}  // namespace hesscope
