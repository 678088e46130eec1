// SPDX-License-Identifier: BSD-3-Clause
//
// A quantity of all runs of a figure, by steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/figure_support.h>

namespace hesscope::detail {

/// Numbers by variant, run, seed and step; NaN if missing.
struct StepValues {
  std::vector<std::uint64_t> seeds;
  std::vector<std::int64_t> steps;  ///< those that any run has, ascending
  std::size_t num_runs = 0;
  std::vector<double> values;  ///< row-major

  double at(std::size_t variant, std::size_t run, std::size_t seed, std::size_t step) const {
    return values[((variant * num_runs + run) * seeds.size() + seed) * steps.size() + step];
  }

  /// The value at the step with this number; NaN if there is none.
  double at_step(std::size_t variant, std::size_t run, std::size_t seed, std::int64_t step) const;

  /// Statistics over seeds.
  SeedStatistics statistics(std::size_t variant, std::size_t run, std::size_t step) const;

  /// The position of a step; nothing if it does not exist.
  std::optional<std::size_t> find(std::int64_t step) const;

  Dimension step_dimension() const { return numbered_dimension("step", steps); }
};

StepValues step_values(const ExperimentResults& results,
                       const ExperimentFigure& figure,
                       const std::string& quantity);

/// Replaces each value by the mean of those at (step - window, step]; NaN if one of them is
/// missing.
void average_over(std::int64_t window, StepValues& values);

}  // namespace hesscope::detail
