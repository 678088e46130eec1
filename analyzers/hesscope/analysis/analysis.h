// SPDX-License-Identifier: BSD-3-Clause
//
// The main job as one call: checkpoints and a problem in, a result file out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Parts have neighbouring checkpoints.
struct AnalysisRequest : CheckpointRunRequest {
  std::vector<std::string> only;  ///< analyzers to run; empty = the default ones
  std::vector<std::string> also;  ///< further ones
  /// Options of analyzers, by the names that they declare (AnalyzerKind::options). An option asks
  /// for its analyzer.
  std::map<std::string, SettingValue> options;
  SpectrumMethod method = SpectrumMethod::kAuto;
  std::uint64_t seed = 0;  ///< of all random numbers
  /// 0 = one per core; one per rank with kDistributed. Never changes a result.
  int num_threads = 0;
  /// Solver of the team, for the method kDistributed only.
  std::shared_ptr<const DistributedSolver> solver = {};
  /// When it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  /// If set, called before the work begins with the checkpoints in the order in which they are
  /// taken; for a part, with its own.
  std::function<void(std::span<const CheckpointFile>)> on_order = {};
  /// For plan_analysis() with kDistributed: the number of ranks, which need not exist. 0 = those of
  /// the team.
  int foreseen_ranks = 0;
  int foreseen_grid = 0;  ///< the side of their grid; 0 = the largest that they make
  DistributedEngine foreseen_engine = DistributedEngine::kScalapack;

  int num_ranks() const { return foreseen_ranks > 0 ? foreseen_ranks : team ? team->size() : 1; }

  /// The side of their grid; 0 = the largest that they make.
  int grid() const { return foreseen_ranks > 0 ? foreseen_grid : solver ? solver->grid() : 0; }

  /// Engine of the method kDistributed.
  DistributedEngine engine() const { return solver ? solver->engine() : foreseen_engine; }

  /// Threads of this process, as for Executor. With one rank per core, several threads per rank
  /// would be in each other's way.
  int threads() const {
    return num_threads == 0 && method == SpectrumMethod::kDistributed ? 1 : num_threads;
  }
};

struct AnalysisTimings {
  double load_seconds = 0;
  double hessian_seconds = 0;
  double eigen_seconds = 0;
  double write_seconds = 0;
  double total_seconds = 0;
};

/// Numbers that lack the proof that they should have.
struct UnprovedAnswers {
  std::string of;                  ///< a checkpoint's file, or words for all of them together
  std::vector<std::string> names;  ///< ANALYZER/NAME
};

/// `part` counts checkpoints.
struct AnalysisResult : CheckpointRunResult {
  Eigen::Index num_parameters = 0;
  Eigen::Index num_samples = 0;
  std::vector<HeadlineNumber> run_numbers;  ///< of all checkpoints together
  std::vector<UnprovedAnswers> unproved;    ///< subjects of the last warnings; only of a new run
  AnalysisTimings timings;                  ///< wall time
};

struct AnalysisPlan : CheckpointRunPlan {
  std::size_t num_checkpoints = 0;
  std::size_t num_non_finite = 0;  ///< checkpoints whose weights contain NaN or infinity
  std::vector<std::string> analyzers;
  /// For one Hessian by the structure found in the model's graph: tangents swept through it, and
  /// multiply-adds over all samples. 0 if the Hessian is computed in another way.
  Eigen::Index hessian_directions = 0;
  double hessian_multiply_adds = 0;
  int num_ranks = 0;    ///< by the method kDistributed; 0 by others
  int grid = 0;         ///< rows, and columns, of their grid
  int threads = 0;      ///< of each rank
  int ranks_here = 0;   ///< how many of them fit into the memory of this machine
  int least_ranks = 0;  ///< that suffice, one on each machine like this; 0 = none do
};

/// Called with the state of a run, or of a part: checkpoint `index` of `count`, in the order taken,
/// is done by `fraction`. Returning false asks the run to stop, by Interrupted.
using AnalysisProgress = std::function<bool(std::size_t index, std::size_t count, double fraction)>;

/// Analyzes the checkpoints and writes the result file.
///
/// Every input is checked before anything is computed. Checkpoints are taken in the order of their
/// steps, run by run (CheckpointReading::order). If nothing shows the order of a run, comparisons
/// between its checkpoints are left out (undefined_no_order). A checkpoint with non-finite weights
/// is recorded with the status non_finite and does not affect the others.
///
/// What each analyzer finds for each checkpoint is kept, as soon as it is known, in the folder
/// OUTPUT.units (unit_folder.h). After any interruption, or an OutputError, the same request
/// continues from there and ends with a file that is the same to the last byte, except for the time
/// in its history. The folder is removed when the file is in place. The same request then finds its
/// own result and reports what is in it, unless it may replace it.
///
/// A request for a part ends when its units are kept, even if numbers failed; the whole run judges
/// them. part.h says which units parts and the whole run find of each other.
/// @throws ConfigError (also if OUTPUT.units has another configuration), InputError, OutputError,
///         LockedError; MissingPartsError; Interrupted if progress returned false. Then no output
///         exists that did not exist before.
AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress = {});

/// Counterpart of run_analysis() on the other ranks of request.team: opens the same inputs and does
/// this rank's share of the work until run_analysis() ends on the first rank, or returns at once if
/// the first rank has nothing to compute. Writes nothing. Errors are thrown on the first rank.
void serve_analysis(Team& team, const std::function<AnalysisRequest()>& request);

/// All groups that a result of run_analysis() can have, the root first, with all their possible
/// variables as they are in the file, but without values: for people and programs that have no
/// result yet. The order is that of analyzer_kinds().
std::vector<Group> analysis_quantities();

/// Checks the inputs as run_analysis() does and estimates its cost. Writes nothing.
AnalysisPlan plan_analysis(const AnalysisRequest& request);

}  // namespace hesscope
