// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of result files as figures want them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// A variable of numbers as real ones; missing counts are NaN.
/// @throws InputError if it is not there, is text, its rank is not `rank`, or it has fewer rows
///         than `num_rows` along its first dimension.
Variable read_numbers(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name,
                      std::size_t rank,
                      std::size_t num_rows = 0);

/// What such a variable holds at `index` along its first dimension: `size` numbers, where that is
/// given. @throws InputError as read_numbers, and for another number of them.
std::vector<double> read_row(const io::ResultReader& result,
                             const std::string& group,
                             const std::string& name,
                             std::size_t rank,
                             std::size_t index,
                             std::optional<std::size_t> size = std::nullopt);

/// A variable with one dimension of `size`. @throws InputError as read_numbers, and for another
/// size.
std::vector<double> read_column(const io::ResultReader& result,
                                const std::string& group,
                                const std::string& name,
                                std::size_t size);

/// A single number; NaN where there is none.
double read_number(const io::ResultReader& result,
                   const std::string& group,
                   const std::string& name);

/// What a variable without dimensions that holds a flag says, such as "at_rest"; "" where there is
/// none, or no such flag.
std::string read_flag(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name);

/// At which of `count` checkpoints a variable has numbers without the proof that they should have.
/// The group says of eigenvalues, and of what is one of them, how they were found; the result names
/// whatever else rests on them (UnprovedNumbers). Of a number of the whole run `count` is 1.
std::vector<bool> read_unproved(const io::ResultReader& result,
                                const std::string& group,
                                const std::string& name,
                                std::size_t count);

/// Checkpoints that follow one another in one run.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string label;        ///< of its source and, where that has several runs, its folder
  std::string folder = {};  ///< where its source has several runs
};

/// The checkpoints of a source, split into runs as the analysis took them (detail::ends_run()); of
/// what are no files, where the step does not grow.
struct Checkpoints {
  std::vector<double> steps;  ///< places along the axis
  bool has_steps = true;      ///< else steps are positions in the file
  std::string unit = "step";  ///< what the steps count: "step", "epoch" or "checkpoint"
  std::vector<Run> runs;

  std::size_t size() const { return steps.size(); }

  std::string axis_label() const { return unit == "step" ? "training step" : unit; }

  /// "step 500", "epoch 5" or "checkpoint 2", of several runs with the run: "step 500, seed-1".
  std::string name_of(std::size_t i) const;
};

Checkpoints read_checkpoints(const Source& source);

/// The checkpoint of the step asked for, of the last run that has it; by default the last.
/// @throws ConfigError naming the steps there are if there is none.
std::size_t chosen_checkpoint(const Source& source,
                              const Checkpoints& checkpoints,
                              const FigureRequest& request);

/// "37 zero within rounding, 36 of them explained, 25 by dead parameters": what is known of the
/// zero eigenvalues at a checkpoint; "" where nothing is.
std::string zeros_text(const Source& source, std::size_t checkpoint);

/// An axis of training steps.
plot::Axis step_axis(const Checkpoints& checkpoints);

/// Sources as a figure names them: a single one needs no name.
std::vector<Source> named(std::span<const Source> sources);

/// Lines of a variable over steps, one for each run, under its label.
/// @param unproved  empty, or as of read_unproved(): numbers that are drawn as uncertain.
std::vector<plot::Line> curves(const Checkpoints& checkpoints,
                               std::span<const double> values,
                               const std::vector<bool>& unproved = {});

/// The threshold of a signed logarithmic scale that shows all numbers above `band`: the power of
/// ten below the smallest of them, at least 1e-9 of the largest.
double signed_threshold(std::span<const double> values, double band);

}  // namespace hesscope::figures
