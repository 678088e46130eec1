// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/alignment.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/analyzers/attention_terms.h>
#include <hesscope/analyzers/blocks.h>
#include <hesscope/analyzers/condition.h>
#include <hesscope/analyzers/critical.h>
#include <hesscope/analyzers/density.h>
#include <hesscope/analyzers/edge.h>
#include <hesscope/analyzers/eigenpairs.h>
#include <hesscope/analyzers/ggn.h>
#include <hesscope/analyzers/hessian.h>
#include <hesscope/analyzers/influence.h>
#include <hesscope/analyzers/noise.h>
#include <hesscope/analyzers/norm_sharpness.h>
#include <hesscope/analyzers/population.h>
#include <hesscope/analyzers/sampling.h>
#include <hesscope/analyzers/sharpening.h>
#include <hesscope/analyzers/smoothness.h>
#include <hesscope/analyzers/spectrum.h>
#include <hesscope/analyzers/stability.h>
#include <hesscope/analyzers/structure.h>
#include <hesscope/analyzers/tangent_kernel.h>
#include <hesscope/analyzers/tracking.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/growing_list.h>
#include <hesscope/core/internal/setting_fallback.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/internal/flag_meanings.h>

namespace hesscope {

namespace {

GrowingList<AnalyzerKind>& registry() {
  // In the order of lists, one per line.
  // clang-format off
  static GrowingList<AnalyzerKind> entries({
      hessian_analyzer(),
      spectrum_analyzer(),
      condition_analyzer(),
      structure_analyzer(),
      eigenpairs_analyzer(),
      tracking_analyzer(),
      blocks_analyzer(),
      ggn_analyzer(),
      stability_analyzer(),
      edge_analyzer(),
      norm_sharpness_analyzer(),
      sharpening_analyzer(),
      influence_analyzer(),
      critical_analyzer(),
      smoothness_analyzer(),
      density_analyzer(),
      sampling_analyzer(),
      population_analyzer(),
      noise_analyzer(),
      tangent_kernel_analyzer(),
      attention_terms_analyzer(),
      alignment_analyzer(),
  });
  // clang-format on
  return entries;
}

// Names that results already use for things other than analyzers.
constexpr std::array<std::string_view, 7> kTaken = {
    "root", "landscape", "checkpoint", "parameter", "block", "step", "loss"};

// @throws PreconditionError.
void require_complete(const AnalyzerKind& entry) {
  const auto refuse = [&](const std::string& why) {
    throw PreconditionError(
        fmt::format("register_analyzer: analyzer '{}' {}", printable(entry.name), why));
  };
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (entry.name.empty() || entry.name.find_first_not_of(kLetters) != std::string::npos) {
    refuse("must have a name of lower-case letters, digits and hyphens");
  }
  if (std::find(kTaken.begin(), kTaken.end(), entry.name) != kTaken.end()) {
    refuse("has a name that stands for something else in results");
  }
  if (!entry.create) refuse("has no function `create`");
  for (const SettingKey& key : entry.options) {
    if (std::holds_alternative<std::monostate>(key.fallback)) {
      refuse(fmt::format("has an option '{}' without a fallback", key.name));
    }
    const std::string problem = detail::fallback_problem(key);
    if (!problem.empty()) refuse("has an option " + problem);
  }
}

// @throws PreconditionError.
void require_apart(const AnalyzerKind& entry, const AnalyzerKind& other) {
  const auto refuse = [](const char* what, const std::string& name) {
    throw PreconditionError(
        fmt::format("register_analyzer: there is an {} '{}' already", what, name));
  };
  if (other.name == entry.name) refuse("analyzer", entry.name);
  for (const SettingKey& ours : entry.options) {
    for (const SettingKey& theirs : other.options) {
      if (ours.name == theirs.name) refuse("option", ours.name);
    }
  }
}

// @throws PreconditionError if a flag meaning is not a single word.
void require_words(const AnalyzerKind& kind, const Variable& variable) {
  const std::string problem = detail::problem_of_meanings(variable);
  if (problem.empty()) return;
  throw PreconditionError(
      fmt::format("analyzer '{}': '{}': {}", kind.name, variable.name, problem));
}

// All settings under which an analyzer may declare other variables than under the first of them.
std::vector<std::map<std::string, SettingValue>> variants_of(const AnalyzerKind& kind) {
  std::vector<std::map<std::string, SettingValue>> variants = {kind.declaring_all};
  const auto add = [&](const SettingKey& key, const SettingValue& value) {
    std::map<std::string, SettingValue>& variant = variants.emplace_back(kind.declaring_all);
    variant[key.name] = value;
    for (const SettingKey* each = &key; each != nullptr && each->only_with;
         each = find_or_null(kind.options, each->only_with->key)) {
      variant[each->only_with->key] = each->only_with->values.front();
    }
  };
  for (const SettingKey& key : kind.options) {
    if (key.type == SettingKey::Type::kBoolean) add(key, true);
    if (key.type != SettingKey::Type::kText) continue;
    for (const std::string& choice : key.choices) add(key, choice);
  }
  return variants;
}

}  // namespace

std::span<const AnalyzerKind> analyzer_kinds() { return registry().all(); }

void register_analyzer(AnalyzerKind entry) {
  require_complete(entry);
  registry().add(entry, [&](std::span<const AnalyzerKind> others) {
    for (const AnalyzerKind& other : others) require_apart(entry, other);
  });
}

const AnalyzerKind& find_analyzer_kind(const std::string& name) {
  return find_named(analyzer_kinds(), name, "analyzer");
}

std::unique_ptr<Analyzer> create_analyzer(const AnalyzerKind& kind, const Settings& settings) {
  std::unique_ptr<Analyzer> analyzer = kind.create(settings);
  if (analyzer == nullptr) {
    throw PreconditionError(
        fmt::format("analyzer '{}': its function `create` made nothing", kind.name));
  }
  for (const Group* group : {&analyzer->declared(), &analyzer->declared_of_run()}) {
    for (const Variable& variable : group->variables) require_words(kind, variable);
  }
  return analyzer;
}

Group declared_quantities(const AnalyzerKind& kind) {
  Group all{.name = kind.name};
  const auto add = [&all](Variable variable, bool is_of_run) {
    if (all.find(variable.name) != nullptr) return;
    if (!is_of_run) variable.dimensions.insert(variable.dimensions.begin(), "checkpoint");
    all.add(std::move(variable));
  };
  for (const auto& variant : variants_of(kind)) {
    const auto analyzer = create_analyzer(
        kind, Settings::checked(variant, kind.options, fmt::format("analyzer '{}'", kind.name)));
    for (const Variable& variable : analyzer->declared().variables) add(variable, false);
    for (const Variable& variable : analyzer->declared_of_run().variables) add(variable, true);
  }
  return all;
}

}  // namespace hesscope
