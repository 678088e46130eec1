// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of result files in the form that figures need.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// A numeric variable as real numbers; missing counts are NaN.
/// @throws InputError if it does not exist, is text, does not have the rank `rank`, or has fewer
///         than `num_rows` rows along its first dimension.
Variable read_numbers(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name,
                      std::size_t rank,
                      std::size_t num_rows = 0);

/// The numbers of such a variable at `index` along its first dimension: `size` of them, if that is
/// given. @throws InputError as read_numbers, and if there is another number of them.
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

/// A single number; NaN if there is none.
double read_number(const io::ResultReader& result,
                   const std::string& group,
                   const std::string& name);

/// The meaning of a flag in a variable without dimensions, such as "at_rest"; "" if there is none,
/// or no such flag.
std::string read_flag(const io::ResultReader& result,
                      const std::string& group,
                      const std::string& name);

/// At which of `count` checkpoints a variable has numbers that lack the proof that they should
/// have. For eigenvalues, and numbers taken from them, the group says how they were found; for all
/// other numbers that depend on them, see UnprovedNumbers. For a number of the whole run, `count`
/// is 1.
std::vector<bool> read_unproved(const io::ResultReader& result,
                                const std::string& group,
                                const std::string& name,
                                std::size_t count);

/// Checkpoints that follow one another in one run.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string label;        ///< name of its source and, if that has several runs, its folder
  std::string folder = {};  ///< if its source has several runs
};

/// The checkpoints of a source, split into runs as in the analysis (detail::ends_run()); if they
/// are not files, where the step does not increase.
struct Checkpoints {
  std::vector<double> steps;  ///< positions along the axis
  bool has_steps = true;      ///< else steps are positions in the file
  std::string unit = "step";  ///< what the steps count: "step", "epoch" or "checkpoint"
  std::vector<Run> runs;

  std::size_t size() const { return steps.size(); }

  std::string axis_label() const { return unit == "step" ? "training step" : unit; }

  /// "step 500", "epoch 5" or "checkpoint 2"; with several runs, also the run: "step 500, seed-1".
  std::string name_of(std::size_t i) const;
};

Checkpoints read_checkpoints(const Source& source);

/// The checkpoint of the requested step, in the last run that has it; by default the last
/// checkpoint.
/// @throws ConfigError naming the existing steps if no checkpoint has this one.
std::size_t chosen_checkpoint(const Source& source,
                              const Checkpoints& checkpoints,
                              const FigureRequest& request);

/// "37 zero within rounding, 36 of them explained, 25 by dead parameters": what is known about the
/// zero eigenvalues at a checkpoint; "" if nothing is.
std::string zeros_text(const Source& source, std::size_t checkpoint);

/// An axis of training steps.
plot::Axis step_axis(const Checkpoints& checkpoints);

/// Sources with their names in a figure: a single one needs no name.
std::vector<Source> named(std::span<const Source> sources);

/// Lines of a variable over steps, one for each run, under its label.
/// @param unproved  empty, or as from read_unproved(): these numbers are drawn as uncertain.
std::vector<plot::Line> curves(const Checkpoints& checkpoints,
                               std::span<const double> values,
                               const std::vector<bool>& unproved = {});

/// The threshold of a signed logarithmic scale that shows all numbers above `band`: the power of
/// ten below the smallest of them, but at least 1e-9 of the largest.
double signed_threshold(std::span<const double> values, double band);

}  // namespace hesscope::figures
