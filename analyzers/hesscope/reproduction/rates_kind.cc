// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

// Families of the figure's runs, in their order.
std::vector<std::string> families_of(const ExperimentResults& results,
                                     const ExperimentFigure& figure) {
  std::vector<std::string> families;
  for (const std::string& variant : figure.variants) {
    for (const std::string& name : figure.runs) {
      const ExperimentRun* run = results.variant(variant).experiment.find_run(name);
      if (run == nullptr || place_of(families, run->family) < families.size()) continue;
      families.push_back(run->family);
    }
  }
  return families;
}

// The mean of a run's last values; NaN where one of them is missing, as after a divergence.
double mean_of_last(const StepValues& values,
                    std::size_t variant,
                    std::size_t run,
                    std::size_t seed,
                    std::size_t last) {
  const std::size_t count = std::min(last, values.steps.size());
  if (count == 0) return kNaN;
  double sum = 0;
  for (std::size_t k = values.steps.size() - count; k < values.steps.size(); ++k) {
    sum += values.at(variant, run, seed, k);
  }
  return sum / static_cast<double>(count);
}

// One run of one variant.
struct Trial {
  std::string family;
  double rate = kNaN;
  SeedStatistics over_seeds;  // of the runs that did not diverge
  bool is_complete = false;   // none diverged
};

// Trials of a family by ascending rate.
struct Family {
  std::vector<Trial> trials;

  const Trial* best() const {
    const Trial* found = nullptr;
    for (const Trial& trial : trials) {
      if (!trial.is_complete) continue;
      if (found == nullptr || trial.over_seeds.mean < found->over_seeds.mean) found = &trial;
    }
    return found;
  }

  bool is_at_end(const Trial& trial) const {
    return trials.size() > 1 &&
           (trial.rate == trials.front().rate || trial.rate == trials.back().rate);
  }
};

plot::Panel panel_of(const std::vector<std::string>& names,
                     const std::vector<Family>& families,
                     const std::string& label) {
  plot::Panel panel;
  panel.x = {.label = "learning rate", .scale = plot::ScaleKind::kLog};
  panel.y = {.label = label, .scale = plot::ScaleKind::kLog};
  for (std::size_t f = 0; f < families.size(); ++f) {
    plot::Band band;
    plot::Line line{.label = names[f], .markers = true};
    for (const Trial& trial : families[f].trials) {
      band.x.push_back(trial.rate);
      band.low.push_back(trial.is_complete ? trial.over_seeds.minimum : kNaN);
      band.high.push_back(trial.is_complete ? trial.over_seeds.maximum : kNaN);
      line.y.push_back(trial.is_complete ? trial.over_seeds.mean : kNaN);
    }
    line.x = band.x;
    if (line.x.empty()) continue;
    panel.series.emplace_back(std::move(band));
    panel.series.emplace_back(std::move(line));
  }
  return panel;
}

FigureContent make_rates(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string& quantity = figure.settings.text("quantity");
  const auto last = static_cast<std::size_t>(figure.settings.integer("last"));
  const StepValues values = step_values(results, figure, quantity);
  const std::vector<std::string> names = families_of(results, figure);
  FigureContent content;
  std::vector<double> rates;
  std::vector<double> by_seed;
  std::vector<double> means;
  std::vector<double> best;
  std::vector<std::vector<std::string>> rows = {
      {"variant", "run", "rates", "best", "there", "diverged"}};
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    std::vector<Family> families(names.size());
    std::vector<std::size_t> num_diverged(names.size());
    for (std::size_t r = 0; r < figure.runs.size(); ++r) {
      const ExperimentRun* run =
          results.variant(figure.variants[v]).experiment.find_run(figure.runs[r]);
      std::vector<double> over_seeds;
      for (std::size_t s = 0; s < values.seeds.size(); ++s) {
        over_seeds.push_back(mean_of_last(values, v, r, s, last));
      }
      by_seed.insert(by_seed.end(), over_seeds.begin(), over_seeds.end());
      Trial trial;
      if (run != nullptr) {
        const std::size_t f = place_of(names, run->family);
        const auto& seeds = results.variant(figure.variants[v]).experiment.seeds;
        trial = {.family = run->family,
                 .rate = run->learning_rate,
                 .over_seeds = seed_statistics(over_seeds)};
        trial.is_complete = trial.over_seeds.count == static_cast<std::int64_t>(seeds.size());
        if (!trial.is_complete) ++num_diverged[f];
        families[f].trials.push_back(trial);
      }
      rates.push_back(trial.rate);
      means.push_back(trial.is_complete ? trial.over_seeds.mean : kNaN);
    }
    for (std::size_t f = 0; f < names.size(); ++f) {
      Family& family = families[f];
      std::sort(family.trials.begin(), family.trials.end(), [](const Trial& a, const Trial& b) {
        return a.rate < b.rate;
      });
      const Trial* found = family.best();
      best.push_back(found == nullptr ? kNaN : found->rate);
      rows.push_back(
          {results.variant(figure.variants[v]).title,
           names[f],
           fmt::format("{}", family.trials.size()),
           found == nullptr
               ? "-"
               : fmt::format("{}{}",
                             found->rate,
                             family.is_at_end(*found) ? " (at the end of the range)" : ""),
           found == nullptr ? "-" : mean_text(found->over_seeds),
           fmt::format("{}", num_diverged[f])});
    }
    plot::Panel panel = panel_of(names, families, results.long_name(quantity));
    panel.title = panel_title(results, figure, figure.variants[v]);
    content.figure.panels.push_back(std::move(panel));
  }
  content.data.dimensions = {variant_dimension(figure),
                             run_dimension(figure),
                             seed_dimension(values.seeds),
                             named_dimension("family", names)};
  content.data.variables = {
      {.name = "learning_rate",
       .dimensions = {"variant", "run"},
       .long_name = "learning rate of the run",
       .definition = "as in the experiment",
       .values = std::move(rates)},
      {.name = "value",
       .dimensions = {"variant", "run", "seed"},
       .long_name = results.long_name(quantity),
       .definition = fmt::format(
           "mean of the last {} values of {}; missing where the run diverged", last, quantity),
       .values = std::move(by_seed)},
      {.name = "mean",
       .dimensions = {"variant", "run"},
       .long_name = "mean over seeds",
       .definition = "of value, where no seed diverged",
       .values = std::move(means)},
      {.name = "best_learning_rate",
       .dimensions = {"variant", "family"},
       .long_name = "best learning rate",
       .definition = "that of the least mean",
       .values = std::move(best)}};
  content.figure.title = figure.title;
  content.figure.description =
      fmt::format("{} by learning rate: mean and range over seeds", results.long_name(quantity));
  content.text = fmt::format(
                     "Mean of the last {} values of {}, mean over seeds (sample standard "
                     "deviation), at the best of the learning rates; rates with which a seed "
                     "diverged take no part.\n\n",
                     last,
                     quantity) +
                 markdown_table(rows);
  return content;
}

}  // namespace

ExperimentFigureKind rates_kind() {
  return {.name = "rates",
          .summary = "how far runs get by their learning rate, and which is best",
          .keys = {{.name = "quantity",
                    .meaning = "GROUP/NAME, by whose last values rates are compared",
                    .fallback = SettingValue(std::string("history/batch_loss"))},
                   {.name = "last",
                    .type = SettingKey::Type::kInteger,
                    .meaning = "how many of them",
                    .minimum = 1,
                    .maximum = 1'000'000,
                    .fallback = SettingValue(std::int64_t{20})}},
          .make = make_rates};
}

}  // namespace hesscope::detail
