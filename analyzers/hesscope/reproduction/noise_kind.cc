// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

const char* const kNoiseGroup = "noise";

constexpr std::array kStatistics = {"mean",
                                    "standard_deviation",
                                    "skewness",
                                    "excess_kurtosis",
                                    "hill_index",
                                    "max_over_median",
                                    "qq_slope",
                                    "qq_intercept",
                                    "qq_correlation"};

std::vector<std::string> statistic_names(const ExperimentFigure& /*figure*/) {
  return {kStatistics.begin(), kStatistics.end()};
}

template <typename List, typename Value>
bool is_among(const List& list, const Value& value) {
  return std::ranges::find(list, value) != list.end();
}

// Whether a measure covers the noise, at the figure's step, of a run that the figure may show.
bool covers(const ExperimentMeasure& measure,
            const ExperimentFigure& figure,
            const ExperimentVariant& variant) {
  if (!is_among(measure.analyzers, kNoiseGroup)) return false;
  const std::vector<std::int64_t>& steps = measure.checkpoints;
  if (!steps.empty() && !is_among(steps, figure.settings.integer("step"))) return false;
  return std::ranges::any_of(figure.runs, [&](const std::string& run) {
    if (variant.experiment.find_run(run) == nullptr) return false;
    return std::ranges::any_of(variant.experiment.seeds, [&](std::uint64_t seed) {
      return measure.covers(variant.name, run, seed);
    });
  });
}

void require_measures(const ExperimentFigure& figure, const ExperimentDocument& document) {
  for (const std::string& name : figure.variants) {
    const ExperimentVariant& variant = *find_or_null(document.variants, name);
    const bool is_measured = std::ranges::any_of(
        document.measures,
        [&](const ExperimentMeasure& measure) { return covers(measure, figure, variant); });
    if (is_measured) continue;
    throw ConfigError(
        fmt::format("the figure '{}' needs the noise of variant '{}' at step {}, which no "
                    "[[measure]] covers",
                    figure.name,
                    name,
                    figure.settings.integer("step")));
  }
}

struct NoiseSource {
  io::ResultReader file;
  std::string run;
  std::uint64_t seed;
};

// The first run of a variant whose noise was measured at the figure's step.
NoiseSource source_of(const ExperimentResults& results,
                      const ExperimentFigure& figure,
                      const std::string& variant) {
  const std::int64_t step = figure.settings.integer("step");
  for (const std::string& name : figure.runs) {
    for (const std::uint64_t seed : results.seeds({variant})) {
      const TrainedRun* run = results.find(variant, name, seed);
      if (run == nullptr) continue;
      for (const std::string& measure : run->measures) {
        const auto path = results.measured(*run, kNoiseGroup, measure);
        if (!path) continue;
        io::ResultReader file(*path);
        if (is_among(file.read_integers("", "step"), step)) return {std::move(file), name, seed};
      }
    }
  }
  throw ConfigError(
      fmt::format("{}: the figure '{}' needs the noise of variant '{}' at step {}, where no run "
                  "of it has a checkpoint that is measured",
                  figure.location,
                  figure.name,
                  variant,
                  step));
}

FigureContent make_noise(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::int64_t step = figure.settings.integer("step");
  figures::FigureRequest request;
  request.step = step;
  const figures::FigureKind& drawing = figures::find_figure_kind("noise");
  FigureContent content;
  std::vector<std::vector<double>> statistics(kStatistics.size());
  std::vector<double> edges;
  std::vector<double> density;
  std::int64_t num_bins = 0;
  std::vector<std::vector<std::string>> rows = {
      {"variant", "run", "seed", "mean", "sd", "skewness", "excess kurtosis", "Hill index"}};
  std::vector<std::string> runs;
  std::vector<std::int64_t> seeds;
  for (const std::string& variant : figure.variants) {
    const auto [file, run, seed] = source_of(results, figure, variant);
    const figures::Source source{&file, variant};
    const std::size_t place =
        figures::chosen_checkpoint(source, figures::read_checkpoints(source), request);
    for (std::size_t i = 0; i < kStatistics.size(); ++i) {
      statistics[i].push_back(
          figures::read_row(file, kNoiseGroup, kStatistics[i], 1, place).front());
    }
    const auto append = [&](const char* name, std::vector<double>& all) {
      const std::vector<double> row =
          figures::read_row(*source.result, kNoiseGroup, name, 2, place);
      all.insert(all.end(), row.begin(), row.end());
      return std::ssize(row);
    };
    append("histogram_edges", edges);
    num_bins = append("histogram_density", density);
    runs.push_back(run);
    seeds.push_back(static_cast<std::int64_t>(seed));
    rows.push_back(
        {results.variant(variant).title, results.run_title(run), fmt::format("{}", seed)});
    for (std::size_t i = 0; i < 5; ++i) rows.back().push_back(digits_text(statistics[i].back()));
    plot::Figure drawn = figures::draw_figure(drawing, std::array{source}, request);
    for (plot::Panel& panel : drawn.panels) {
      if (figure.variants.size() > 1) panel.title = results.variant(variant).title;
      content.figure.panels.push_back(std::move(panel));
    }
  }
  content.figure.columns = 2;
  content.figure.title = figure.title;
  content.figure.description =
      "Distribution of the norms of minibatch gradients minus the full gradient by variant, and "
      "their quantiles against those of a normal distribution";
  content.data.dimensions = {variant_dimension(figure),
                             {.name = "edge", .size = num_bins + 1},
                             {.name = "bin", .size = num_bins}};
  const auto add = [&](const std::string& name,
                       const std::vector<std::string>& dimensions,
                       const std::string& what,
                       std::vector<double> values) {
    content.data.add({.name = name,
                      .dimensions = dimensions,
                      .long_name = what + " of the gradient noise",
                      .definition = "as /noise/" + name,
                      .values = std::move(values)});
  };
  content.data.add({.name = "run",
                    .type = VariableType::kText,
                    .dimensions = {"variant"},
                    .long_name = "run whose noise it is",
                    .definition = "the first run of the figure that was measured at the step",
                    .values = std::move(runs)});
  content.data.add({.name = "seed",
                    .type = VariableType::kInt64,
                    .dimensions = {"variant"},
                    .long_name = "seed of the run",
                    .definition = "the first seed from which the run was measured at the step",
                    .values = std::move(seeds)});
  for (std::size_t i = 0; i < kStatistics.size(); ++i) {
    add(kStatistics[i], {"variant"}, kStatistics[i], statistics[i]);
  }
  add("histogram_edges", {"variant", "edge"}, "edges of the histogram", std::move(edges));
  add("histogram_density", {"variant", "bin"}, "density", std::move(density));
  content.text =
      fmt::format(
          "Norm of a minibatch gradient minus the reference gradient, at step {}, of one "
          "run from one seed of each variant. Heavy tails: large excess kurtosis, small "
          "Hill index.\n\n",
          step) +
      markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t /*run*/) {
        const std::optional<std::size_t> i = index_of(statistic_names(figure), value.quantity);
        return i ? SeedStatistics{.count = 1, .mean = statistics[*i][variant]} : SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind noise_kind() {
  return {.name = "noise",
          .summary = "gradient noise at one checkpoint of each variant: histogram, normal QQ plot",
          .keys = {{.name = "step",
                    .type = SettingKey::Type::kInteger,
                    .meaning = "of the checkpoint",
                    .minimum = 0,
                    .fallback = SettingValue(std::int64_t{0})}},
          .published = PublishedPlace{.quantities = statistic_names},
          .make = make_noise,
          .check = require_measures};
}

}  // namespace hesscope::detail
