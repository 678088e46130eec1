// SPDX-License-Identifier: BSD-3-Clause
//
// Analyzers in one call, for objectives of one's own:
//
//   const auto objective = hesscope::make_objective(loss, num_parameters, num_samples);
//   const auto analysis =
//       hesscope::analyze(objective, {{"start", x0}, {"end", x1}}, {"spectrum", "condition"});
//   const double sharpness = analysis["end"].number("spectrum", "lambda_max");
//   analysis.write("curvature.h5");  // for hesscope plot, export and inspect, h5py, xarray ...
//
// Analyzers and their quantities have the names that they have in result files and on the command
// line. A name that does not exist is refused with those that do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/analysis/analysis.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/settings.h>
#include <hesscope/core/status.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/objective/objective.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope {

class Problem;

/// A point of the landscape of an objective.
struct NamedPoint {
  std::string name;                       ///< in results, one for each point; UTF-8
  Eigen::VectorXd theta;                  ///< the parameters
  std::optional<std::int64_t> step = {};  ///< of the training run to which it belongs
  OptimizerState optimizer = {};          ///< for analyzers that need it: see adam_state()
};

struct AnalyzeOptions {
  /// Options of analyzers, by the names that they declare. An option asks for its analyzer:
  /// {{"eigenpairs", 3}}.
  std::map<std::string, SettingValue> options = {};
  SpectrumMethod method = SpectrumMethod::kAuto;
  std::uint64_t seed = 0;          ///< of all random numbers
  AnalysisProgress progress = {};  ///< by points
};

struct WriteOptions {
  io::Overwrite overwrite = io::Overwrite::kNothing;
  /// The command that asked for the result, for its history; empty = the library function.
  std::string command = {};
};

/// What analyzers found at one point, or for all points together.
class Answers {
 public:
  /// A number or a count; NaN if there is none, and status() says why. If the quantity has several
  /// numbers, the first.
  /// @throws PreconditionError if the analyzer did not run, or has no such quantity; it names those
  ///         that exist.
  double number(std::string_view analyzer, std::string_view quantity) const;

  /// All numbers of a quantity, with its last dimension varying fastest; empty if there are none.
  /// @throws PreconditionError as number().
  Eigen::VectorXd values(std::string_view analyzer, std::string_view quantity) const;

  /// @throws PreconditionError as number().
  Status status(std::string_view analyzer, std::string_view quantity) const;

  /// All answers of an analyzer. @throws PreconditionError if it did not run.
  const Group& group(std::string_view analyzer) const;

 private:
  friend class Analysis;
  friend class AnalysisRun;

  const Variable& find(std::string_view analyzer, std::string_view quantity) const;

  std::vector<Group> groups_;
};

/// What analyzers found at one point.
class PointAnswers : public Answers {
 public:
  const std::string& name() const { return name_; }

  double loss() const { return loss_; }

  double gradient_norm() const { return gradient_norm_; }

  /// kNonFinite if parameters, loss or gradient contain NaN or infinity; nothing else was computed
  /// then.
  Status point_status() const { return status_; }

 private:
  friend class AnalysisRun;

  std::string name_;
  double loss_ = 0;
  double gradient_norm_ = 0;
  Status status_ = Status::kNotComputed;
};

/// What analyze() returns: a value that depends on nothing else and is cheap to copy. Moving copies
/// it, so that no Analysis is ever empty.
class Analysis {
 public:
  Analysis(const Analysis&) = default;
  Analysis& operator=(const Analysis&) = default;

  /// In the order given. The deleted overloads, here and below, prevent views into a temporary.
  std::span<const PointAnswers> points() const&;
  std::span<const PointAnswers> points() && = delete;

  /// @throws PreconditionError if there are not that many points.
  const PointAnswers& operator[](std::size_t index) const;

  /// @throws PreconditionError if no point has this name.
  const PointAnswers& operator[](std::string_view name) const;

  /// Answers about all points together, such as the (L0, L1) of `smoothness`.
  const Answers& run() const;

  /// In the order in which they ran.
  std::vector<std::string> analyzers() const;

  /// Sentences about numbers that are missing or not proved.
  std::span<const std::string> warnings() const&;
  std::span<const std::string> warnings() && = delete;

  /// False if a number is missing for any reason other than being mathematically undefined.
  bool is_conclusive() const;

  /// Writes a result file as `hesscope analyze` does: the same groups and variables, with the
  /// points' names in `checkpoint_file` and the digests of their parameters in `checkpoint_sha256`.
  /// @throws OutputError if it cannot be written, or exists and may not be replaced. Then no file
  ///         exists that did not exist before.
  void write(const std::filesystem::path& output, const WriteOptions& options = {}) const;

 private:
  friend class AnalysisRun;

  struct Impl;

  explicit Analysis(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

/// Analyzes points of an objective, in the order of their run. Analyzers that look at a path
/// (`smoothness`, `eigenpairs`) assume that each point follows the previous one, unless its step is
/// smaller.
///
/// For a GraphObjective, the model and its samples are known, too, which analyzers for one kind of
/// model need. Only a Problem can draw more samples (`noise` with "noise-sampling" = "fresh"). All
/// records are held in memory, including the requested matrices: "save-hessian" takes n^2 numbers
/// for each point.
///
/// @param points     at least one, each of objective.num_parameters() numbers.
/// @param analyzers  names as in `hesscope analyze --help`; empty = the default ones.
/// @throws ConfigError for unknown analyzers and options (with the nearest known name), values that
///         an analyzer cannot take, and objectives that lack what an analyzer needs;
///         PreconditionError for points that do not fit, and as require_objective(); Interrupted if
///         progress returned false.
/// @cost   as each analyzer says; the Hessian and its decomposition are computed once for each
///         point, however many analyzers need them.
Analysis analyze(const Objective& objective,
                 const std::vector<NamedPoint>& points,
                 const std::vector<std::string>& analyzers = {},
                 const AnalyzeOptions& options = {});

/// The same for a problem's objective; the result names the problem and its data.
Analysis analyze(const Problem& problem,
                 const std::vector<NamedPoint>& points,
                 const std::vector<std::string>& analyzers = {},
                 const AnalyzeOptions& options = {});

}  // namespace hesscope
