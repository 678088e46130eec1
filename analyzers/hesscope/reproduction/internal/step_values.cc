// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {

SeedStatistics StepValues::statistics(std::size_t variant,
                                      std::size_t run,
                                      std::size_t step) const {
  std::vector<double> column;
  for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
    column.push_back(at(variant, run, seed, step));
  }
  return seed_statistics(column);
}

std::optional<std::size_t> StepValues::find(std::int64_t step) const {
  const auto found = std::lower_bound(steps.begin(), steps.end(), step);
  if (found == steps.end() || *found != step) return std::nullopt;
  return static_cast<std::size_t>(found - steps.begin());
}

double StepValues::at_step(std::size_t variant,
                           std::size_t run,
                           std::size_t seed,
                           std::int64_t step) const {
  const std::optional<std::size_t> k = find(step);
  return k ? at(variant, run, seed, *k) : kNaN;
}

StepValues step_values(const ExperimentResults& results,
                       const ExperimentFigure& figure,
                       const std::string& quantity) {
  StepValues all;
  all.seeds = results.seeds(figure.variants);
  all.num_runs = figure.runs.size();
  std::vector<std::map<std::int64_t, double>> series;
  std::set<std::int64_t> steps;
  for (const std::string& variant : figure.variants) {
    for (const std::string& name : figure.runs) {
      for (const std::uint64_t seed : all.seeds) {
        const TrainedRun* run = results.find(variant, name, seed);
        series.push_back(run == nullptr ? std::map<std::int64_t, double>()
                                        : results.series(*run, quantity));
        for (const auto& [step, value] : series.back()) steps.insert(step);
      }
    }
  }
  all.steps.assign(steps.begin(), steps.end());
  for (const auto& one : series) {
    for (const std::int64_t step : all.steps) {
      const auto found = one.find(step);
      all.values.push_back(found == one.end() ? kNaN : found->second);
    }
  }
  return all;
}

void average_over(std::int64_t window, StepValues& values) {
  const std::size_t num_steps = values.steps.size();
  const std::vector<double> single = values.values;
  for (std::size_t i = 0; i < single.size(); ++i) {
    const std::size_t last = i % num_steps;
    double sum = 0;
    std::size_t count = 0;
    for (; count <= last && values.steps[last - count] > values.steps[last] - window; ++count) {
      sum += single[i - count];
    }
    values.values[i] = sum / static_cast<double>(count);
  }
}

}  // namespace hesscope::detail
