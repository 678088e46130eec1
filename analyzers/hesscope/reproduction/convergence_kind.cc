// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>
#include <hesscope/statistics/least_squares.h>

namespace hesscope::detail {
namespace {

// One run from one seed.
struct Descent {
  double first = kNaN;
  double last = kNaN;
  double gradient_norm = kNaN;  // at the end
  double rate = kNaN;           // 1 - exp(slope): the fraction by which a step reduces the value
  double determination = kNaN;  // R^2
  double bound = kNaN;          // on the rate: learning rate times the least bound of a checkpoint
  bool is_there = false;
};

void require_part(const ExperimentFigure& figure, const ExperimentDocument& /*document*/) {
  const double part = figure.settings.real("part");
  if (!(part > 0 && part <= 1)) {
    throw ConfigError(fmt::format("'part' must be above 0 and at most 1, got {}", part));
  }
}

// The straight line through log(value) over the last part of the steps with values above `floor`.
void fit_rate(const std::map<std::int64_t, double>& series,
              double part,
              double floor,
              Descent& descent) {
  std::int64_t end = 0;
  for (const auto& [step, value] : series) {
    if (value > floor) end = step;
  }
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [step, value] : series) {
    const bool is_late = static_cast<double>(step) >= (1 - part) * static_cast<double>(end);
    if (step > end || !is_late || !(value > floor) || !std::isfinite(value)) continue;
    x.push_back(static_cast<double>(step));
    y.push_back(std::log(value));
  }
  if (x.size() < 3) return;
  const auto size = static_cast<Eigen::Index>(x.size());
  const LineFit line = fit_line(Eigen::Map<const Eigen::VectorXd>(x.data(), size),
                                Eigen::Map<const Eigen::VectorXd>(y.data(), size));
  descent.rate = -std::expm1(line.slope.value);
  descent.determination = line.correlation.value * line.correlation.value;
}

Descent descent_of(const ExperimentResults& results,
                   const ExperimentFigure& figure,
                   const TrainedRun* run) {
  Descent descent;
  if (run == nullptr || run->has_diverged) return descent;
  const std::map<std::int64_t, double> series =
      results.series(*run, figure.settings.text("quantity"));
  if (series.empty()) return descent;
  descent.is_there = true;
  descent.first = series.begin()->second;
  descent.last = series.rbegin()->second;
  const bool is_part = results.variant(run->variant).experiment.names_trained();
  const char* const norm = is_part ? "history/trained_gradient_norm" : "history/gradient_norm";
  const std::map<std::int64_t, double> norms = results.series(*run, norm);
  if (!norms.empty()) descent.gradient_norm = norms.rbegin()->second;
  fit_rate(series, figure.settings.real("part"), figure.settings.real("floor"), descent);
  if (figure.settings.has("bound")) {
    double least = kNaN;
    for (const auto& [step, value] : results.series(*run, figure.settings.text("bound"))) {
      least = std::fmin(least, value);
    }
    descent.bound =
        least * results.variant(run->variant).experiment.find_run(run->run)->learning_rate;
  }
  return descent;
}

std::string range_text(const std::vector<double>& values) {
  const SeedStatistics statistics = seed_statistics(values);
  return fmt::format("{} ({} ... {})",
                     digits_text(statistics.median),
                     digits_text(statistics.minimum),
                     digits_text(statistics.maximum));
}

struct DescentColumn {
  const char* name;
  double Descent::*member;
  const char* long_name;
  const char* definition;
};

constexpr DescentColumn kColumns[] = {
    {"first", &Descent::first, "quantity at the start", "at the first step of the history"},
    {"last", &Descent::last, "quantity at the end", "at the last step"},
    {"gradient_norm",
     &Descent::gradient_norm,
     "Euclidean norm of the gradient at the end",
     "on the evaluation samples, with respect to the trained parameters"},
    {"rate",
     &Descent::rate,
     "share of the quantity that a step takes away",
     "1 - exp(slope) of the least-squares line of the quantity's logarithm over steps, in the last "
     "part of the steps up to the last value above floor"},
    {"determination",
     &Descent::determination,
     "how straight the logarithm falls",
     "R^2, the squared correlation of logarithm and step over the same points"},
    {"bound",
     &Descent::bound,
     "lower bound on the rate",
     "learning rate times the least value of the bound over the run's checkpoints"}};

std::vector<std::string> column_names(const ExperimentFigure& /*figure*/) {
  return names_of(kColumns);
}

std::vector<double> column_of(const std::vector<Descent>& descents, double Descent::*member) {
  std::vector<double> column;
  for (const Descent& descent : descents) column.push_back(descent.*member);
  return column;
}

FigureContent make_convergence(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::vector<std::uint64_t> seeds = results.seeds(figure.variants);
  const bool has_bound = figure.settings.has("bound");
  const bool has_threshold = figure.settings.has("threshold");
  FigureContent content;
  content.data.dimensions = {
      variant_dimension(figure), run_dimension(figure), seed_dimension(seeds)};
  std::vector<std::string> headings = {"seeds", "start", "end", "gradient norm at the end"};
  if (has_threshold) {
    headings.push_back(fmt::format("at most {:g}", figure.settings.real("threshold")));
  }
  headings.insert(headings.end(), {"rate per step", "R^{2}"});
  if (has_bound) headings.emplace_back("bound of the rate");
  RunTable table(results, figure, std::move(headings));
  std::vector<std::vector<Descent>> all;
  for (const std::string& variant : figure.variants) {
    for (const std::string& run : figure.runs) {
      std::vector<Descent> descents;
      for (const std::uint64_t seed : seeds) {
        descents.push_back(descent_of(results, figure, results.find(variant, run, seed)));
      }
      const auto values = [&](double Descent::*member) { return column_of(descents, member); };
      const auto num_there = std::count_if(descents.begin(),
                                           descents.end(),
                                           [](const Descent& descent) { return descent.is_there; });
      std::vector<std::string> cells = {fmt::format("{}", num_there),
                                        range_text(values(&Descent::first)),
                                        range_text(values(&Descent::last)),
                                        range_text(values(&Descent::gradient_norm))};
      if (has_threshold) {
        const double threshold = figure.settings.real("threshold");
        const auto num_below =
            std::count_if(descents.begin(), descents.end(), [&](const Descent& descent) {
              return descent.last <= threshold;
            });
        cells.push_back(fmt::format("{} of {}", num_below, num_there));
      }
      cells.push_back(range_text(values(&Descent::rate)));
      cells.push_back(range_text(values(&Descent::determination)));
      if (has_bound) cells.push_back(range_text(values(&Descent::bound)));
      table.add(variant, run, std::move(cells));
      all.push_back(std::move(descents));
    }
  }
  for (const DescentColumn& column : kColumns) {
    std::vector<double> values;
    for (const std::vector<Descent>& descents : all) {
      const std::vector<double> more = column_of(descents, column.member);
      values.insert(values.end(), more.begin(), more.end());
    }
    content.data.add({.name = column.name,
                      .dimensions = {"variant", "run", "seed"},
                      .long_name = column.long_name,
                      .definition = column.definition,
                      .values = std::move(values)});
  }
  content.figure = table_figure(figure, table.rows());
  content.figure.description =
      fmt::format("How far and how fast {} falls", figure.settings.text("quantity"));
  content.text = fmt::format(
      "`{}`: median over seeds (least ... largest). Rate: the share that a step takes away, by the "
      "least-squares line of the logarithm over the last {:g} of the steps, up to the last value "
      "above {:g}; R^2 says how straight that is.\n\n",
      figure.settings.text("quantity"),
      figure.settings.real("part"),
      figure.settings.real("floor"));
  if (has_bound) {
    content.text += fmt::format(
        "Bound of the rate: learning rate times the least `{}` of the run's checkpoints.\n\n",
        figure.settings.text("bound"));
  }
  content.text += markdown_table(table.rows());
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        const std::size_t row = variant * figure.runs.size() + run;
        for (const DescentColumn& column : kColumns) {
          if (value.quantity != column.name) continue;
          return seed_statistics(column_of(all[row], column.member));
        }
        return SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind convergence_kind() {
  using Type = SettingKey::Type;
  SettingKey quantity = quantity_key("quantity");
  quantity.fallback = SettingValue(std::string("history/loss"));
  SettingKey bound = quantity_key("bound");
  bound.is_optional = true;
  return {.name = "convergence",
          .summary = "how far and how fast a quantity falls: ends over seeds, fitted rate",
          .keys = {quantity,
                   bound,
                   {.name = "threshold",
                    .type = Type::kReal,
                    .meaning = "how many seeds end at or below it",
                    .is_optional = true},
                   {.name = "part",
                    .type = Type::kReal,
                    .meaning = "share of the steps, at the end, to which the rate is fitted",
                    .fallback = SettingValue(0.5)},
                   {.name = "floor",
                    .type = Type::kReal,
                    .meaning = "values at or below it are left out of the fit",
                    .fallback = SettingValue(1e-24)}},
          .published =
              PublishedPlace{.run = PublishedPlace::Run::kOfFigure, .quantities = column_names},
          .make = make_convergence,
          .check = require_part};
}

}  // namespace hesscope::detail
