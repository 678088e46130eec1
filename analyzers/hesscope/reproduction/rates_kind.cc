// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

std::vector<std::string> titles_of(const ExperimentResults& results,
                                   const std::vector<std::string>& families) {
  std::vector<std::string> titles;
  for (const std::string& family : families) titles.push_back(results.family_title(family));
  return titles;
}

// The mean of a run's values at the last steps; NaN if one of them is missing, for example after a
// divergence.
double mean_of_last(const StepValues& values,
                    std::size_t variant,
                    std::size_t run,
                    std::size_t seed,
                    std::size_t count) {
  double sum = 0;
  for (std::size_t k = values.steps.size() - count; k < values.steps.size(); ++k) {
    sum += values.at(variant, run, seed, k);
  }
  return count == 0 ? kNaN : sum / static_cast<double>(count);
}

// The number of steps from the first at which any run has a number. For example, there is no
// minibatch before the first step.
std::size_t num_steps_with_numbers(const StepValues& values) {
  const std::size_t num_steps = values.steps.size();
  std::size_t first = num_steps;
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    if (std::isfinite(values.values[i])) first = std::min(first, i % num_steps);
  }
  return num_steps - first;
}

// The first existing value of a run; NaN if there is none.
double first_of(const StepValues& values, std::size_t variant, std::size_t run, std::size_t seed) {
  for (std::size_t k = 0; k < values.steps.size(); ++k) {
    const double value = values.at(variant, run, seed, k);
    if (std::isfinite(value)) return value;
  }
  return kNaN;
}

// One run of one variant.
struct Trial {
  double rate = kNaN;
  std::vector<double> by_seed;
  SeedStatistics over_seeds;
  bool is_complete = false;  // every seed ends below its start
  bool is_near_best = false;
};

// Whether a trial is no worse than the best one, as far as the seeds can show: its mean excess,
// seed by seed, is at most the standard error of that mean. Seeds share their data, so differences
// scatter less than losses.
bool is_within_one_error(const Trial& trial, const Trial& best) {
  std::vector<double> excess;
  for (std::size_t s = 0; s < trial.by_seed.size(); ++s) {
    excess.push_back(trial.by_seed[s] - best.by_seed[s]);
  }
  const SeedStatistics over_seeds = seed_statistics(excess);
  return over_seeds.mean <= over_seeds.deviation / std::sqrt(static_cast<double>(over_seeds.count));
}

// Trials of one family in one variant, by ascending rate.
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

  const Trial* find(double rate) const {
    const auto at = std::ranges::find(trials, rate, &Trial::rate);
    return at == trials.end() ? nullptr : &*at;
  }

  std::size_t num_failed() const {
    return static_cast<std::size_t>(std::ranges::count(trials, false, &Trial::is_complete));
  }

  bool is_at_end(const Trial& trial) const {
    return trials.size() > 1 &&
           (trial.rate == trials.front().rate || trial.rate == trials.back().rate);
  }

  void order_and_judge() {
    std::ranges::sort(trials, {}, &Trial::rate);
    const Trial* const found = best();
    for (Trial& trial : trials) {
      trial.is_near_best =
          trial.is_complete && (&trial == found || is_within_one_error(trial, *found));
    }
  }

  // "0.02, 0.05 (at the end of the range)".
  std::string near_best_text() const {
    std::string text;
    for (const Trial& trial : trials) {
      if (!trial.is_near_best) continue;
      text += fmt::format("{}{}{}",
                          text.empty() ? "" : ", ",
                          trial.rate,
                          is_at_end(trial) ? " (at the end of the range)" : "");
    }
    return text.empty() ? "-" : text;
  }
};

// Median and range. Rates at which a seed failed are crosses above the frame, in one row for each
// family.
plot::Panel panel_of(const std::vector<std::string>& titles,
                     const std::vector<Family>& families,
                     const std::string& label) {
  plot::Panel panel;
  panel.x = {.label = "learning rate", .scale = plot::ScaleKind::kLog};
  panel.y = {.label = label, .scale = plot::ScaleKind::kLog};
  std::size_t num_failed = 0;
  for (std::size_t f = 0; f < families.size(); ++f) {
    // One line for each range of rates without a failure, so that failed rates do not count as
    // missing.
    plot::Line line{.label = titles[f], .colour = plot::line_colour(f), .markers = true};
    plot::Band band{.colour = line.colour};
    plot::Marks failed{.colour = line.colour};
    const auto close = [&] {
      if (line.x.empty()) return;
      band.x = line.x;
      panel.series.emplace_back(std::exchange(band, {.colour = line.colour}));
      panel.series.emplace_back(
          std::exchange(line, plot::Line{.colour = line.colour, .markers = true}));
    };
    for (const Trial& trial : families[f].trials) {
      if (!trial.is_complete) {
        failed.x.push_back(trial.rate);
        close();
        continue;
      }
      line.x.push_back(trial.rate);
      line.y.push_back(trial.over_seeds.median);
      band.low.push_back(trial.over_seeds.minimum);
      band.high.push_back(trial.over_seeds.maximum);
    }
    close();
    num_failed += failed.x.size();
    const bool is_named = failed.x.size() < families[f].trials.size();
    if (!is_named) failed.label = titles[f];
    if (!failed.x.empty()) panel.series.emplace_back(std::move(failed));
  }
  if (num_failed > 0) panel.note = "\u00d7 failed";
  return panel;
}

// All trials of a figure: families by variant and name.
class Rates {
 public:
  Rates(const ExperimentResults& results, const ExperimentFigure& figure)
      : results_(results),
        figure_(figure),
        quantity_(figure.settings.text("quantity")),
        values_(step_values(results, figure, quantity_)),
        last_(std::min(static_cast<std::size_t>(figure.settings.integer("last")),
                       num_steps_with_numbers(values_))),
        names_(families_of(results.document(), figure)),
        titles_(titles_of(results, names_)),
        families_(figure.variants.size(), std::vector<Family>(names_.size())) {
    for (std::size_t v = 0; v < figure.variants.size(); ++v) {
      for (std::size_t r = 0; r < figure.runs.size(); ++r) add_trial(v, r);
      for (Family& family : families_[v]) family.order_and_judge();
    }
  }

  FigureContent content() && {
    FigureContent content;
    content.data = data();
    std::vector<std::vector<std::string>> rows = {
        {"variant", "run", "best", "within one standard error", "there", "failed"}};
    for (std::size_t v = 0; v < figure_.variants.size(); ++v) {
      for (std::size_t f = 0; f < names_.size(); ++f) rows.push_back(row_of(v, f));
      plot::Panel panel = panel_of(titles_, families_[v], results_.long_name(quantity_));
      panel.title = panel_title(results_, figure_, figure_.variants[v]);
      content.figure.panels.push_back(std::move(panel));
    }
    content.figure.title = figure_.title;
    content.figure.columns = content.figure.panels.size() > 3 ? 4 : 0;
    content.figure.description = fmt::format("{} by learning rate: median and range over seeds",
                                             results_.long_name(quantity_));
    content.text =
        fmt::format(
            "Mean of the last {} values of {}, mean over seeds (sample standard deviation), at the "
            "best of the learning rates. Within one standard error: rates whose mean excess over "
            "the best, seed by seed, is at most its standard error. Rates with which a seed "
            "diverged, or ends above where it began, failed and take no part.\n\n",
            last_,
            quantity_) +
        markdown_table(rows);
    compare(content);
    return content;
  }

 private:
  void add_trial(std::size_t v, std::size_t r) {
    std::vector<double> by_seed;
    for (std::size_t s = 0; s < values_.seeds.size(); ++s) {
      by_seed.push_back(mean_of_last(values_, v, r, s, last_));
    }
    by_seed_.insert(by_seed_.end(), by_seed.begin(), by_seed.end());
    const auto& experiment = results_.variant(figure_.variants[v]).experiment;
    const ExperimentRun* const run = experiment.find_run(figure_.runs[r]);
    rates_.push_back(run == nullptr ? kNaN : run->learning_rate);
    if (run == nullptr) return means_.push_back(kNaN);
    Trial trial;
    trial.rate = run->learning_rate;
    trial.over_seeds = seed_statistics(by_seed);
    trial.by_seed = std::move(by_seed);
    std::int64_t num_good = 0;
    for (std::size_t s = 0; s < values_.seeds.size(); ++s) {
      if (trial.by_seed[s] <= first_of(values_, v, r, s)) ++num_good;
    }
    trial.is_complete = num_good == std::ssize(experiment.seeds);
    means_.push_back(trial.is_complete ? trial.over_seeds.mean : kNaN);
    families_[v][place_of(*run)].trials.push_back(std::move(trial));
  }

  std::vector<std::string> row_of(std::size_t v, std::size_t f) const {
    const Family& family = families_[v][f];
    const Trial* const best = family.best();
    return {results_.variant(figure_.variants[v]).title,
            titles_[f],
            best == nullptr ? "-" : fmt::format("{}", best->rate),
            family.near_best_text(),
            best == nullptr ? "-" : mean_text(best->over_seeds),
            fmt::format("{} of {}", family.num_failed(), family.trials.size())};
  }

  Group data() {
    std::vector<double> best;
    std::vector<double> near_best;
    for (std::size_t v = 0; v < figure_.variants.size(); ++v) {
      for (const Family& family : families_[v]) {
        const Trial* const found = family.best();
        best.push_back(found == nullptr ? kNaN : found->rate);
      }
      for (std::size_t r = 0; r < figure_.runs.size(); ++r) {
        const double rate = rates_[v * figure_.runs.size() + r];
        near_best.push_back(is_near_best(v, figure_.runs[r]) ? rate : kNaN);
      }
    }
    Group data;
    data.dimensions = {variant_dimension(figure_),
                       run_dimension(figure_),
                       seed_dimension(values_.seeds),
                       named_dimension("family", names_)};
    data.variables = {
        {.name = "learning_rate",
         .dimensions = {"variant", "run"},
         .long_name = "learning rate of the run",
         .definition = "as in the experiment",
         .values = rates_},
        {.name = "value",
         .dimensions = {"variant", "run", "seed"},
         .long_name = results_.long_name(quantity_),
         .definition = fmt::format(
             "mean of the last {} values of {}; missing where the run diverged", last_, quantity_),
         .values = std::move(by_seed_)},
        {.name = "mean",
         .dimensions = {"variant", "run"},
         .long_name = "mean over seeds",
         .definition = "of value, where every seed ends below where it began",
         .values = std::move(means_)},
        {.name = "near_best_learning_rate",
         .dimensions = {"variant", "run"},
         .long_name = "learning rate of a run within one standard error of the best",
         .definition = "where the mean over seeds of value minus that of the best run of the "
                       "family is at most its standard deviation over sqrt(number of seeds)",
         .values = std::move(near_best)},
        {.name = "best_learning_rate",
         .dimensions = {"variant", "family"},
         .long_name = "best learning rate",
         .definition = "learning rate with the smallest mean",
         .values = std::move(best)}};
    return data;
  }

  bool is_near_best(std::size_t v, const std::string& name) const {
    const ExperimentRun* const run =
        results_.variant(figure_.variants[v]).experiment.find_run(name);
    if (run == nullptr) return false;
    const Trial* const trial = families_[v][place_of(*run)].find(run->learning_rate);
    return trial != nullptr && trial->is_near_best;
  }

  // The position of the run's family.
  std::size_t place_of(const ExperimentRun& run) const {
    return index_of(names_, run.family).value();
  }

  // Compares with published rates, each for a variant and, as `run`, a family.
  void compare(FigureContent& content) const {
    if (figure_.published_values.empty()) return;
    const bool is_comparable = is_as_published(results_.document());
    std::vector<std::vector<std::string>> rows = {{"where", "theirs", "ours", "", "source"}};
    for (const PublishedValue& value : figure_.published_values) {
      const std::optional<std::size_t> v = index_of(figure_.variants, value.variant);
      const std::optional<std::size_t> f = index_or_first(names_, value.run);
      if (!v || !f) continue;
      const Family& family = families_[*v][*f];
      const Trial* const theirs = family.find(value.mean);
      const std::string ours = family.near_best_text();
      const std::string where = fmt::format("{}, {}", value.variant, names_[*f]);
      std::string verdict = "-";
      if (is_comparable && theirs == nullptr) verdict = "not among ours";
      if (is_comparable && theirs != nullptr) {
        ++content.num_compared;
        verdict = theirs->is_near_best ? "agrees" : "disagrees";
        if (!theirs->is_near_best) {
          content.disagreements.push_back(
              fmt::format("{}: {} ({}), ours {}", where, value.mean, value.source, ours));
        }
      }
      rows.push_back({where, fmt::format("{}", value.mean), ours, verdict, value.source});
    }
    content.text += "\n## Numbers of others beside ours\n\n" + markdown_table(rows);
    content.comparison = std::move(rows);
    content.comparison.front()[3] = "verdict";
    content.text += is_comparable ? "\nTheirs agrees where it is within one standard error of our "
                                    "best.\n"
                                  : not_comparable_text(results_.document());
  }

  const ExperimentResults& results_;
  const ExperimentFigure& figure_;
  std::string quantity_;
  StepValues values_;
  std::size_t last_;                 // number of last values, at most as many as asked for
  std::vector<std::string> names_;   // of families
  std::vector<std::string> titles_;  // of families
  std::vector<std::vector<Family>> families_;  // by variant and name
  std::vector<double> rates_;                  // by variant and run
  std::vector<double> means_;                  // the same
  std::vector<double> by_seed_;                // and seed
};

FigureContent make_rates(const ExperimentResults& results, const ExperimentFigure& figure) {
  return Rates(results, figure).content();
}

}  // namespace

ExperimentFigureKind rates_kind() {
  return {.name = "rates",
          .summary = "how far runs get by their learning rate, and which is best",
          .keys = {{.name = "quantity",
                    .meaning = "GROUP/NAME by whose last values learning rates are compared",
                    .fallback = SettingValue(std::string("history/batch_loss"))},
                   {.name = "last",
                    .type = SettingKey::Type::kInteger,
                    .meaning = "how many of them",
                    .minimum = 1,
                    .maximum = 1'000'000,
                    .fallback = SettingValue(std::int64_t{20})}},
          .has_equal_axes = true,
          .published = PublishedPlace{.run = PublishedPlace::Run::kFamily},
          .make = make_rates};
}

}  // namespace hesscope::detail
