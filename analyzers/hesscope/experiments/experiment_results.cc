// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <hesscope/experiments/experiment_parts.h>
#include <hesscope/experiments/experiment_results.h>
#include <hesscope/figures/figure_data.h>
#include <hesscope/io/result_reader.h>

namespace hesscope::detail {
namespace {

const char* const kHistory = "history";

}  // namespace

const ExperimentVariant& ExperimentResults::variant(const std::string& name) const {
  return *std::find_if(document_->variants.begin(),
                       document_->variants.end(),
                       [&](const ExperimentVariant& variant) { return variant.name == name; });
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
                                                                 const std::string& group) const {
  for (const ExperimentMeasure& measure : document_->measures) {
    const auto& analyzers = measure.analyzers;
    if (std::find(analyzers.begin(), analyzers.end(), group) == analyzers.end()) continue;
    if (!measure.covers(run.variant, run.run, run.seed)) continue;
    const std::filesystem::path path = run.folder / (measure.name + ".h5");
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

std::map<std::int64_t, double> ExperimentResults::series(const TrainedRun& run,
                                                         const std::string& quantity) const {
  const QuantityName name = quantity_name(quantity);
  const bool is_history = name.group == kHistory;
  const std::optional<std::filesystem::path> path =
      is_history ? run.folder / "history.h5" : measured(run, name.group);
  if (!path) return {};
  const io::ResultReader file(*path);
  const std::vector<std::int64_t> steps = file.read_integers("", "step");
  const std::vector<double> values =
      figures::read_column(file, is_history ? "" : name.group, name.name, steps.size());
  std::map<std::int64_t, double> series;
  for (std::size_t i = 0; i < steps.size(); ++i) series[steps[i]] = values[i];
  // The last row of a diverged run's history may be of a step that the others have none of.
  const std::int64_t every = variant(run.variant).experiment.history_every;
  if (is_history && run.has_diverged && every > 0) {
    std::erase_if(series, [&](const auto& row) { return row.first % every != 0; });
  }
  return series;
}

std::string ExperimentResults::long_name(const std::string& quantity) const {
  const QuantityName name = quantity_name(quantity);
  const bool is_history = name.group == kHistory;
  for (const TrainedRun& run : runs_) {
    const std::optional<std::filesystem::path> path =
        is_history ? run.folder / "history.h5" : measured(run, name.group);
    if (!path) continue;
    const io::ResultReader file(*path);
    if (const auto* variable = file.find(is_history ? "" : name.group, name.name)) {
      return variable->long_name;
    }
  }
  return "";
}

}  // namespace hesscope::detail
