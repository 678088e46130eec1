// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

// The first of the steps at which the event happened; NaN if it did not. NaN reaches no level.
double time_of(const FigureEvent& event, const std::map<std::int64_t, double>& series) {
  for (const auto& [step, value] : series) {
    if (event.is_above ? value >= event.level : value <= event.level) {
      return static_cast<double>(step);
    }
  }
  return kNaN;
}

std::vector<std::string> event_names(const ExperimentFigure& figure) {
  return names_of(figure.events);
}

std::string rule_of(const FigureEvent& event) {
  return fmt::format("{} {} {}", event.quantity, event.is_above ? ">=" : "<=", event.level);
}

// Times by variant, run, seed and event.
struct Times {
  std::vector<std::uint64_t> seeds;
  std::size_t num_runs = 0;
  std::size_t num_events = 0;
  std::vector<double> values;

  double at(std::size_t variant, std::size_t run, std::size_t seed, std::size_t event) const {
    return values[((variant * num_runs + run) * seeds.size() + seed) * num_events + event];
  }

  SeedStatistics statistics(std::size_t variant, std::size_t run, std::size_t event) const {
    std::vector<double> column;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      column.push_back(at(variant, run, seed, event));
    }
    return seed_statistics(column);
  }

  /// Whether all events happened, in the order of the list.
  bool is_in_order(std::size_t variant, std::size_t run, std::size_t seed) const {
    double last = -1;
    for (std::size_t event = 0; event < num_events; ++event) {
      const double time = at(variant, run, seed, event);
      if (!(time >= last)) return false;
      last = time;
    }
    return true;
  }
};

Times times_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  Times times{.seeds = results.seeds(figure.variants),
              .num_runs = figure.runs.size(),
              .num_events = figure.events.size(),
              .values = {}};
  for (const std::string& variant : figure.variants) {
    for (const std::string& name : figure.runs) {
      for (const std::uint64_t seed : times.seeds) {
        const TrainedRun* run = results.find(variant, name, seed);
        for (const FigureEvent& event : figure.events) {
          times.values.push_back(
              run == nullptr ? kNaN : time_of(event, results.series(*run, event.quantity)));
        }
      }
    }
  }
  return times;
}

FigureContent make_events(const ExperimentResults& results, const ExperimentFigure& figure) {
  const Times times = times_of(results, figure);
  const std::vector<std::string> names = event_names(figure);
  FigureContent content;
  std::vector<double> in_order;
  RunTable table(results, figure, {"event", "step", "first", "last", "seeds"});
  std::string rules;
  for (const FigureEvent& event : figure.events) {
    rules += fmt::format("- {}: `{}`\n", event.name, rule_of(event));
  }
  std::string orders;
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      for (std::size_t event = 0; event < names.size(); ++event) {
        const SeedStatistics found = times.statistics(v, run, event);
        table.add(figure.variants[v],
                  figure.runs[run],
                  {names[event],
                   mean_text(found),
                   digits_text(found.minimum),
                   digits_text(found.maximum),
                   fmt::format("{} of {}", found.count, times.seeds.size())});
      }
      std::size_t num_ordered = 0;
      for (std::size_t seed = 0; seed < times.seeds.size(); ++seed) {
        const bool is_ordered = times.is_in_order(v, run, seed);
        in_order.push_back(is_ordered ? 1 : 0);
        num_ordered += is_ordered ? 1 : 0;
      }
      const std::string title = panel_title(results, figure, figure.variants[v], figure.runs[run]);
      const std::string where = title.empty() ? "" : " of " + title;
      orders += fmt::format("- {} of {} seeds{}\n", num_ordered, times.seeds.size(), where);
    }
  }
  content.data.dimensions = {variant_dimension(figure),
                             run_dimension(figure),
                             seed_dimension(times.seeds),
                             named_dimension("event", names)};
  content.data.add({.name = "time",
                    .dimensions = {"variant", "run", "seed", "event"},
                    .long_name = "step of an event",
                    .definition = "first recorded step at which the quantity is at or beyond the "
                                  "level; missing if it never is",
                    .values = times.values});
  content.data.add(
      {.name = "in_order",
       .dimensions = {"variant", "run", "seed"},
       .long_name = "whether the events came in their order",
       .definition =
           "1 if all of them happened and none came before the one listed before it; 0 otherwise",
       .values = std::move(in_order)});
  content.figure = table_figure(figure, table.rows());
  content.figure.description = "Steps at which quantities reach levels: mean over seeds";
  content.text =
      "First step at which a quantity is at or beyond a level: mean over seeds (sample "
      "standard deviation), first and last seed.\n\n" +
      markdown_table(table.rows()) + "\nThe events:\n\n" + rules + "\nAll in this order, in:\n\n" +
      orders;
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        const std::optional<std::size_t> event = index_or_first(names, value.quantity);
        return event ? times.statistics(variant, run, *event) : SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind events_kind() {
  return {
      .name = "events",
      .summary = "steps at which quantities reach levels, seed by seed, and their order",
      .keys = {},
      .takes_events = true,
      .published = PublishedPlace{.run = PublishedPlace::Run::kOfFigure, .quantities = event_names},
      .make = make_events};
}

}  // namespace hesscope::detail
