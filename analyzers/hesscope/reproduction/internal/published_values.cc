// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/document_keys.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/published_values.h>

namespace hesscope::detail {
namespace {

const char* const kHeading = "[[figure.published_values]]";

[[noreturn]] void refuse_key(const char* key,
                             const ExperimentFigure& figure,
                             const TomlTable& table) {
  refuse(table.place(key),
         fmt::format("{} of a figure of kind '{}' take no '{}'", kHeading, figure.kind->name, key));
}

// The value of this key must be one of these names; it may be omitted if there is only one.
void require_one_of(const std::vector<std::string>& names,
                    const std::string& said,
                    const char* key,
                    const TomlTable& table) {
  if (!said.empty()) {
    require_known({said}, names, fmt::format("{} of the figure", key), table.place(key));
  } else if (names.size() > 1) {
    refuse(table.place(),
           fmt::format("{} needs '{}': the figure has {}", kHeading, key, fmt::join(names, ", ")));
  }
}

void check_run(const PublishedValue& value,
               const ExperimentFigure& figure,
               const ExperimentDocument& document,
               const TomlTable& table) {
  using Run = PublishedPlace::Run;
  const Run run = figure.kind->published->run;
  if (run == Run::kNone) {
    if (!value.run.empty()) refuse_key("run", figure, table);
    return;
  }
  const bool is_family = run == Run::kFamily;
  require_one_of(is_family ? families_of(document, figure) : figure.runs, value.run, "run", table);
}

void check_quantity(const PublishedValue& value,
                    const ExperimentFigure& figure,
                    const TomlTable& table) {
  const auto quantities = figure.kind->published->quantities;
  if (quantities != nullptr) {
    require_one_of(quantities(figure), value.quantity, "quantity", table);
  } else if (!value.quantity.empty()) {
    refuse_key("quantity", figure, table);
  }
}

void check_step(const PublishedValue& value,
                const ExperimentFigure& figure,
                const ExperimentDocument& document,
                const TomlTable& table) {
  using Step = PublishedPlace::Step;
  const Step step = figure.kind->published->step;
  if (!value.step) {
    if (step == Step::kRequired) refuse(table.place(), fmt::format("{} needs 'step'", kHeading));
    return;
  }
  if (step == Step::kNone) refuse_key("step", figure, table);
  if (!is_as_published(document)) return;
  const std::vector<std::int64_t>& steps = figure.steps;
  if (!steps.empty() && std::ranges::find(steps, *value.step) == steps.end()) {
    refuse(table.place("step"),
           fmt::format(
               "the figure has no step {}; there are {}", *value.step, fmt::join(steps, ", ")));
  }
  const std::int64_t last = find_or_null(document.variants, value.variant)->experiment.num_steps;
  if (*value.step > last) {
    refuse(
        table.place("step"),
        fmt::format(
            "variant '{}' is trained for {} steps, got step {}", value.variant, last, *value.step));
  }
}

}  // namespace

PublishedValue published_from(const TomlTable& table,
                              const ExperimentFigure& figure,
                              const ExperimentDocument& document) {
  const Settings settings = checked(table, published_keys(), kHeading);
  const auto text = [&](const char* key) { return settings.has(key) ? settings.text(key) : ""; };
  PublishedValue value{.variant = settings.text("variant"),
                       .run = text("run"),
                       .quantity = text("quantity"),
                       .step = {},
                       .source = settings.text("source")};
  const auto real = [&](const char* key) {
    return settings.has(key) ? std::optional(settings.real(key)) : std::nullopt;
  };
  value.deviation = real("std");
  if (settings.has("seeds")) value.num_seeds = settings.integer("seeds");
  value.least = real("least");
  value.most = real("most");
  const bool is_range = value.least || value.most;
  if (settings.has("mean") == is_range || (is_range && value.deviation)) {
    refuse(table.place(),
           fmt::format("{} needs a 'mean', with or without 'std', or else 'least', 'most' or both",
                       kHeading));
  }
  if (value.least && value.most && !(*value.least <= *value.most)) {
    refuse(table.place("least"), "'least' must not be above 'most'");
  }
  value.mean = real("mean").value_or(kNaN);
  if (settings.has("step")) value.step = settings.integer("step");
  require_known({value.variant}, figure.variants, "variant of the figure", table.place("variant"));
  check_run(value, figure, document, table);
  check_quantity(value, figure, table);
  check_step(value, figure, document, table);
  return value;
}

}  // namespace hesscope::detail
