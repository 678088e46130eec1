// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/experiment_results.h>
#include <hesscope/training/training.h>

namespace hesscope::detail {
namespace {

const char* const kHistory = "history";

// Each once, in the order of the document.
std::vector<std::string> quantities_of(const std::vector<ExperimentFigure>& figures) {
  std::vector<std::string> quantities;
  const auto add = [&](const std::string& quantity) {
    if (std::ranges::find(quantities, quantity) == quantities.end()) quantities.push_back(quantity);
  };
  for (const ExperimentFigure& figure : figures) {
    for (const char* const key : kQuantityKeys) {
      if (figure.settings.has(key)) add(figure.settings.text(key));
    }
    for (const std::string& quantity : figure.quantities) add(quantity);
    for (const FigureEvent& event : figure.events) add(event.quantity);
  }
  return quantities;
}

}  // namespace

ExperimentResults::ExperimentResults(const ExperimentDocument& document,
                                     std::vector<TrainedRun> runs)
    : document_(&document), runs_(std::move(runs)), quantities_(quantities_of(document.figures)) {}

const ExperimentVariant& ExperimentResults::variant(const std::string& name) const {
  return *find_or_null(document_->variants, name);
}

const std::string& ExperimentResults::run_title(const std::string& run) const {
  for (const ExperimentVariant& variant : document_->variants) {
    const ExperimentRun* const found = find_or_null(variant.experiment.runs, run);
    if (found != nullptr) return found->title;
  }
  return run;
}

std::string ExperimentResults::family_title(const std::string& family) const {
  for (const ExperimentVariant& variant : document_->variants) {
    for (const ExperimentRun& run : variant.experiment.runs) {
      if (run.family != family) continue;
      // If a list of rates stands for several runs, the title of each ends with its own rate.
      const std::string rate = fmt::format(", {}", run.learning_rate);
      const bool is_one_of_list = run.name != family && run.title.ends_with(rate);
      return run.title.substr(0, run.title.size() - (is_one_of_list ? rate.size() : 0));
    }
  }
  return family;
}

const TrainedRun* ExperimentResults::find(const std::string& variant,
                                          const std::string& run,
                                          std::uint64_t seed) const {
  for (const TrainedRun& each : runs_) {
    if (each.variant == variant && each.run == run && each.seed == seed) return &each;
  }
  return nullptr;
}

std::vector<std::uint64_t> ExperimentResults::seeds(
    const std::vector<std::string>& variants) const {
  std::set<std::uint64_t> seeds;
  for (const TrainedRun& run : runs_) {
    if (std::find(variants.begin(), variants.end(), run.variant) != variants.end()) {
      seeds.insert(run.seed);
    }
  }
  return {seeds.begin(), seeds.end()};
}

std::optional<std::filesystem::path> ExperimentResults::measured(const TrainedRun& run,
                                                                 const std::string& group,
                                                                 const std::string& name) const {
  for (const ExperimentMeasure& measure : document_->measures) {
    if (!name.empty() && measure.name != name) continue;
    const auto& analyzers = measure.analyzers;
    if (std::find(analyzers.begin(), analyzers.end(), group) == analyzers.end()) continue;
    if (std::ranges::find(run.measures, measure.name) == run.measures.end()) continue;
    return run.folder / (measure.name + ".h5");
  }
  return std::nullopt;
}

// Numbers of monitors take precedence over those measured afterwards.
std::optional<ExperimentResults::Place> ExperimentResults::place_of(
    const TrainedRun& run, const QuantityName& quantity) const {
  const std::string& group = quantity.group;
  const std::vector<std::string>& monitors = variant(run.variant).experiment.monitors;
  if (quantity.measure.empty()) {
    if (group == kHistory) return Place{history_file(run.folder), "", true};
    if (std::find(monitors.begin(), monitors.end(), group) != monitors.end()) {
      return Place{history_file(run.folder), group, true};
    }
  }
  const std::optional<std::filesystem::path> path = measured(run, group, quantity.measure);
  return path ? std::optional(Place{*path, group, false}) : std::nullopt;
}

ArraySeries ExperimentResults::read_series(const io::ResultReader& file,
                                           std::span<const std::int64_t> steps,
                                           const TrainedRun& run,
                                           const Place& place,
                                           const QuantityName& quantity) const {
  ArraySeries series;
  const Variable* there = file.find(place.group, quantity.name);
  const std::size_t rank = there == nullptr ? 1 : std::max<std::size_t>(there->shape.size(), 1);
  const Variable rows = figures::read_numbers(file, place.group, quantity.name, rank);
  if (rows.shape[0] != steps.size()) {
    throw InputError(fmt::format("{}: {}/{} has {} rows for {} steps",
                                 place.path.string(),
                                 quantity.group,
                                 quantity.name,
                                 rows.shape[0],
                                 steps.size()));
  }
  series.long_name = rows.long_name;
  series.dimensions.assign(rows.dimensions.begin() + 1, rows.dimensions.end());
  series.shape.assign(rows.shape.begin() + 1, rows.shape.end());
  for (std::size_t i = 0; i < steps.size(); ++i) series.values[steps[i]] = rows.row(i);
  // The last row of a diverged run's history may have a step that other histories do not have.
  if (place.is_history && run.has_diverged) {
    const ExperimentFile& experiment = variant(run.variant).experiment;
    const std::vector<std::int64_t>& listed = experiment.history_steps;
    std::erase_if(series.values, [&](const auto& row) {
      return experiment.history_every > 0 && row.first % experiment.history_every != 0 &&
             !std::binary_search(listed.begin(), listed.end(), row.first);
    });
  }
  return series;
}

ExperimentResults::SeriesByQuantity ExperimentResults::figures_series(
    const io::ResultReader& file,
    std::span<const std::int64_t> steps,
    const TrainedRun& run) const {
  SeriesByQuantity all;
  for (const std::string& quantity : quantities_) {
    const QuantityName name = quantity_name(quantity);
    const std::optional<Place> place = place_of(run, name);
    if (!place || place->path != file.path()) continue;
    const Variable* const listed = file.find(place->group, name.name);
    if (listed == nullptr || listed->shape.size() != 1) continue;  // arrays may be large
    try {
      all[quantity] = read_series(file, steps, run, *place, name);
    } catch (const InputError&) {
      // Reported to whoever asks for this quantity.
    }
  }
  return all;
}

const ArraySeries* ExperimentResults::find_kept(const std::filesystem::path& path,
                                                const std::string& quantity) const {
  const auto file = kept_.find(path);
  if (file == kept_.end()) return nullptr;
  const auto found = file->second.find(quantity);
  return found == file->second.end() ? nullptr : &found->second;
}

ArraySeries ExperimentResults::array_series(const TrainedRun& run,
                                            const std::string& quantity) const {
  const QuantityName name = quantity_name(quantity);
  const std::optional<Place> place = place_of(run, name);
  if (!place) return {};
  if (const ArraySeries* const kept = find_kept(place->path, quantity)) return *kept;
  const io::ResultReader file(place->path);
  const std::vector<std::int64_t> steps = file.read_integers("", "step");
  if (!kept_.contains(place->path)) {
    kept_[place->path] = figures_series(file, steps, run);
    if (const ArraySeries* const kept = find_kept(place->path, quantity)) return *kept;
  }
  return read_series(file, steps, run, *place, name);
}

std::map<std::int64_t, double> ExperimentResults::series(const TrainedRun& run,
                                                         const std::string& quantity) const {
  const ArraySeries arrays = array_series(run, quantity);
  if (!arrays.dimensions.empty()) {
    throw PreconditionError(fmt::format("{} is no number: it has dimensions", quantity));
  }
  std::map<std::int64_t, double> series;
  for (const auto& [step, values] : arrays.values) series[step] = values.front();
  return series;
}

std::string ExperimentResults::long_name(const std::string& quantity) const {
  const QuantityName name = quantity_name(quantity);
  for (const TrainedRun& run : runs_) {
    const std::optional<Place> place = place_of(run, name);
    if (!place) continue;
    if (const ArraySeries* const kept = find_kept(place->path, quantity)) return kept->long_name;
    const io::ResultReader file(place->path);
    if (const auto* variable = file.find(place->group, name.name)) return variable->long_name;
  }
  return "";
}

}  // namespace hesscope::detail
