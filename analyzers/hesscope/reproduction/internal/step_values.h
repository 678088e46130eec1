// SPDX-License-Identifier: BSD-3-Clause
//
// A quantity of all runs of a figure on one axis of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/figure_support.h>

namespace hesscope::detail {

/// Numbers by variant, run, seed and step, NaN where there is none.
struct StepValues {
  std::vector<std::uint64_t> seeds;
  std::vector<std::int64_t> steps;  ///< those of any run, ascending
  std::size_t num_runs = 0;
  std::vector<double> values;  ///< row-major

  double at(std::size_t variant, std::size_t run, std::size_t seed, std::size_t step) const {
    return values[((variant * num_runs + run) * seeds.size() + seed) * steps.size() + step];
  }

  /// That of a step by its number; NaN where there is none.
  double at_step(std::size_t variant, std::size_t run, std::size_t seed, std::int64_t step) const;

  /// Over seeds.
  SeedStatistics statistics(std::size_t variant, std::size_t run, std::size_t step) const;

  /// The place of a step; nothing where it is not there.
  std::optional<std::size_t> find(std::int64_t step) const;

  Dimension step_dimension() const { return numbered_dimension("step", steps); }
};

StepValues step_values(const ExperimentResults& results,
                       const ExperimentFigure& figure,
                       const std::string& quantity);

/// Each value becomes the mean of those at (step - window, step], NaN where one of them is missing.
void average_over(std::int64_t window, StepValues& values);

}  // namespace hesscope::detail
