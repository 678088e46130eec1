// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

constexpr std::size_t kClasses = 4;

const char* const kSum = "sum";
const char* const kAligned = "aligned";

// x > 0 and y > 0, only x > 0, only y > 0, neither.
using Counts = std::array<double, kClasses * kClasses>;  // then, now

std::size_t class_of(double x, double y) { return (x > 0 ? 0U : 2U) + (y > 0 ? 0U : 1U); }

std::vector<std::string> class_names(const ExperimentFigure& figure) {
  const std::string& x = figure.settings.text("x_name");
  const std::string& y = figure.settings.text("y_name");
  return {x + "+" + y + "+", x + "+" + y + "-", x + "-" + y + "+", x + "-" + y + "-"};
}

// Counts of the pairs of one run; NaN if one of the steps does not exist.
Counts counts_of(const ExperimentResults& results,
                 const ExperimentFigure& figure,
                 const TrainedRun* run) {
  Counts counts;
  counts.fill(kNaN);
  if (run == nullptr) return counts;
  const ArraySeries x = results.array_series(*run, figure.settings.text("x"));
  const ArraySeries y = results.array_series(*run, figure.settings.text("y"));
  if (x.shape != y.shape) {
    throw ConfigError(fmt::format("{}: 'x' and 'y' must have the same dimensions, {} and {} do not",
                                  figure.location,
                                  figure.settings.text("x"),
                                  figure.settings.text("y")));
  }
  std::array<std::vector<std::size_t>, 2> classes;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto xs = x.values.find(figure.steps[k]);
    const auto ys = y.values.find(figure.steps[k]);
    if (xs == x.values.end() || ys == y.values.end()) return counts;
    for (std::size_t i = 0; i < xs->second.size(); ++i) {
      if (!std::isfinite(xs->second[i]) || !std::isfinite(ys->second[i])) return counts;
      classes[k].push_back(class_of(xs->second[i], ys->second[i]));
    }
  }
  counts.fill(0);
  for (std::size_t i = 0; i < classes[0].size(); ++i) {
    ++counts[classes[0][i] * kClasses + classes[1][i]];
  }
  return counts;
}

// Counts by variant, run and seed.
struct AllCounts {
  std::size_t num_runs = 0;
  std::size_t num_seeds = 0;
  std::vector<Counts> counts;

  // Statistics over seeds for sums of some cells.
  template <typename Chosen>
  SeedStatistics statistics(std::size_t variant, std::size_t run, const Chosen& chosen) const {
    std::vector<double> sums;
    for (std::size_t seed = 0; seed < num_seeds; ++seed) {
      const Counts& one = counts[(variant * num_runs + run) * num_seeds + seed];
      sums.push_back(0);
      for (std::size_t cell = 0; cell < one.size(); ++cell) {
        if (chosen(cell / kClasses, cell % kClasses)) sums.back() += one[cell];
      }
    }
    return seed_statistics(sums);
  }

  SeedStatistics cell(std::size_t variant,
                      std::size_t run,
                      std::size_t then,
                      std::size_t now) const {
    return statistics(variant, run, [=](std::size_t i, std::size_t j) {
      return (then == kClasses || i == then) && (now == kClasses || j == now);
    });
  }

  /// Share of pairs whose signs agree, then or now.
  SeedStatistics aligned(std::size_t variant, std::size_t run, bool is_now) const {
    const SeedStatistics all = cell(variant, run, kClasses, kClasses);
    SeedStatistics found = statistics(variant, run, [=](std::size_t i, std::size_t j) {
      const std::size_t of = is_now ? j : i;
      return of == 0 || of == kClasses - 1;
    });
    for (double* value : {&found.mean, &found.deviation, &found.minimum, &found.maximum}) {
      *value /= all.mean;
    }
    return found;
  }
};

AllCounts all_counts(const ExperimentResults& results,
                     const ExperimentFigure& figure,
                     const std::vector<std::uint64_t>& seeds) {
  AllCounts all{.num_runs = figure.runs.size(), .num_seeds = seeds.size(), .counts = {}};
  for (const std::string& variant : figure.variants) {
    for (const std::string& run : figure.runs) {
      for (const std::uint64_t seed : seeds) {
        all.counts.push_back(counts_of(results, figure, results.find(variant, run, seed)));
      }
    }
  }
  return all;
}

// The table of one run of one variant, with sums; kClasses stands for all.
std::vector<std::vector<std::string>> table_of(const AllCounts& all,
                                               const ExperimentFigure& figure,
                                               std::size_t variant,
                                               std::size_t run) {
  std::vector<std::string> names = class_names(figure);
  names.emplace_back(kSum);
  std::vector<std::vector<std::string>> rows = {
      {fmt::format("step {} \\ step {}", figure.steps[0], figure.steps[1])}};
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (std::size_t then = 0; then <= kClasses; ++then) {
    rows.push_back({names[then]});
    for (std::size_t now = 0; now <= kClasses; ++now) {
      rows.back().push_back(mean_text(all.cell(variant, run, then, now)));
    }
  }
  return rows;
}

// Names of published values: cells of the table, row by row, as "K+Q+ to K-Q-" or "sum to K-Q-".
std::vector<std::string> published_quantities(const ExperimentFigure& figure) {
  std::vector<std::string> names = class_names(figure);
  names.emplace_back(kSum);
  std::vector<std::string> all;
  for (const std::string& then : names) {
    for (const std::string& now : names) all.push_back(fmt::format("{} to {}", then, now));
  }
  all.emplace_back(kAligned);
  return all;
}

SeedStatistics own_value(const AllCounts& all,
                         const ExperimentFigure& figure,
                         const PublishedValue& value,
                         std::size_t variant,
                         std::size_t run) {
  if (value.quantity == kAligned) {
    const std::int64_t step = value.step.value_or(figure.steps[1]);
    const bool is_there = std::ranges::find(figure.steps, step) != figure.steps.end();
    return is_there ? all.aligned(variant, run, step == figure.steps[1]) : SeedStatistics();
  }
  const std::optional<std::size_t> cell = index_of(published_quantities(figure), value.quantity);
  constexpr std::size_t kColumns = kClasses + 1;  // including the sum
  return cell ? all.cell(variant, run, *cell / kColumns, *cell % kColumns) : SeedStatistics();
}

FigureContent make_contingency(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::vector<std::uint64_t> seeds = results.seeds(figure.variants);
  const AllCounts all = all_counts(results, figure, seeds);
  const std::vector<std::string> names = class_names(figure);
  FigureContent content;
  content.data.dimensions = {variant_dimension(figure),
                             run_dimension(figure),
                             seed_dimension(seeds),
                             named_dimension("then", names),
                             named_dimension("now", names)};
  std::vector<double> counts;
  for (const Counts& one : all.counts) counts.insert(counts.end(), one.begin(), one.end());
  content.data.add(
      {.name = "count",
       .dimensions = {"variant", "run", "seed", "then", "now"},
       .long_name = "number of pairs",
       .definition = fmt::format("elements by the signs of {} and {} at step {} and at step {}",
                                 figure.settings.text("x"),
                                 figure.settings.text("y"),
                                 figure.steps[0],
                                 figure.steps[1]),
       .values = std::move(counts)});
  std::vector<std::vector<std::string>> drawn;
  content.text = fmt::format(
      "Counts by sign, {} of `{}`, {} of `{}`: rows at step {}, columns at step {}. "
      "Mean over {} seeds (sample standard deviation).\n",
      figure.settings.text("x_name"),
      figure.settings.text("x"),
      figure.settings.text("y_name"),
      figure.settings.text("y"),
      figure.steps[0],
      figure.steps[1],
      seeds.size());
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      const std::vector<std::vector<std::string>> rows = table_of(all, figure, v, run);
      drawn.insert(drawn.end(), rows.begin(), rows.end());
      content.text += fmt::format(
          "\n`{}`, `{}`: signs agree in {} of the pairs at step {}, in {} at step {}.\n\n{}",
          figure.variants[v],
          figure.runs[run],
          mean_text(all.aligned(v, run, false)),
          figure.steps[0],
          mean_text(all.aligned(v, run, true)),
          figure.steps[1],
          markdown_table(rows));
    }
  }
  content.figure = table_figure(figure, drawn);
  content.figure.description = "Counts of pairs by the signs of two quantities at two steps";
  // Published counts have no spread: that of a Poisson variable is used instead.
  ExperimentFigure with_spreads = figure;
  for (PublishedValue& value : with_spreads.published_values) {
    if (value.deviation || value.quantity == kAligned) continue;
    value.deviation = std::sqrt(std::max(value.mean, 1.0));
    value.num_seeds = 1;
  }
  compare_with_published(
      results,
      with_spreads,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        return own_value(all, figure, value, variant, run);
      },
      content);
  if (!figure.published_values.empty()) {
    content.text += "\nThe spread in brackets behind a count of others is its square root.\n";
  }
  return content;
}

void require_two_steps(const ExperimentFigure& figure, const ExperimentDocument& /*document*/) {
  if (figure.steps.size() == 2 && figure.steps[0] < figure.steps[1]) return;
  throw ConfigError("a figure of kind 'contingency' needs 'steps', two of them, the earlier first");
}

SettingKey name_key(const std::string& name, const std::string& fallback) {
  return {.name = name, .meaning = "of the quantity", .fallback = SettingValue(fallback)};
}

}  // namespace

ExperimentFigureKind contingency_kind() {
  return {.name = "contingency",
          .summary = "how the signs of two quantities move from one step to another",
          .keys = {quantity_key("x"),
                   quantity_key("y"),
                   name_key("x_name", "x"),
                   name_key("y_name", "y")},
          .steps_if_absent = "required: two, the earlier first",
          .takes_arrays = true,
          .published = PublishedPlace{.run = PublishedPlace::Run::kOfFigure,
                                      .step = PublishedPlace::Step::kOptional,
                                      .quantities = published_quantities},
          .make = make_contingency,
          .check = require_two_steps};
}

}  // namespace hesscope::detail
