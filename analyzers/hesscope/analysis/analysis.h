// SPDX-License-Identifier: BSD-3-Clause
//
// The main job as one call: checkpoints and a problem in, a result file out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/core/team.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/part.h>

namespace hesscope {

struct AnalysisRequest {
  std::vector<CheckpointFile> checkpoints;  ///< at least one; taken in the order of their steps
  CheckpointReading reading;
  std::filesystem::path problem;  ///< problem file
  std::filesystem::path output;   ///< result file
  std::vector<std::string> only;  ///< analyzers to run; empty = the default ones
  std::vector<std::string> also;  ///< further ones
  /// Of analyzers, by the names they declare (AnalyzerKind::options); an option asks for its
  /// analyzer.
  std::map<std::string, SettingValue> options;
  SpectrumMethod method = SpectrumMethod::kAuto;
  std::uint64_t seed = 0;                             ///< of all random numbers
  io::Overwrite overwrite = io::Overwrite::kNothing;  ///< what may be replaced there
  io::Share share = {};                               ///< parts have neighbouring checkpoints
  /// 0 = one per core, of a rank by the method kDistributed one; never changes a result.
  int num_threads = 0;
  /// Of which this process is the first rank; the others call serve_analysis() meanwhile.
  /// null = none.
  std::shared_ptr<Team> team = {};
  /// Of that team, for the method kDistributed, and for no other.
  std::shared_ptr<const DistributedSolver> solver = {};
  /// Once it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  /// If set, called with the checkpoints, of a part with its own, in the order in which they are
  /// taken, before the work begins.
  std::function<void(std::span<const CheckpointFile>)> on_order = {};
  /// The command that asks for this result, for the provenance; options that cannot change a result
  /// (threads, the output's name) should be left out so that equal results are equal files.
  std::string command;
  /// For plan_analysis(), by the method kDistributed: of how many ranks, which need not be there.
  /// 0 = those of the team.
  int foreseen_ranks = 0;
  int foreseen_grid = 0;  ///< the side of their grid; 0 = the largest that they make
  DistributedEngine foreseen_engine = DistributedEngine::kScalapack;

  int num_ranks() const { return foreseen_ranks > 0 ? foreseen_ranks : team ? team->size() : 1; }

  /// The side of their grid; 0 = the largest that they make.
  int grid() const { return foreseen_ranks > 0 ? foreseen_grid : solver ? solver->grid() : 0; }

  /// By the method kDistributed.
  DistributedEngine engine() const { return solver ? solver->engine() : foreseen_engine; }

  /// Of this process, as of Executor: with one rank a core, more would be in each other's way.
  int threads() const {
    return num_threads == 0 && method == SpectrumMethod::kDistributed ? 1 : num_threads;
  }
};

/// A number worth showing.
struct HeadlineNumber {
  std::string analyzer;
  std::string name;
  double value;  ///< NaN unless status is kOk
  Status status;
  bool is_count = false;  ///< the value is a whole number
  std::string word = {};  ///< of a flag, what its value means
  bool is_zero = false;   ///< an eigenvalue that rounding does not tell from zero
};

struct CheckpointSummary {
  CheckpointFile checkpoint;
  std::string sha256;
  double loss;
  double gradient_norm;
  Status status;                        ///< of loss and gradient
  std::vector<HeadlineNumber> numbers;  ///< the same names in the same order for every checkpoint
};

struct AnalysisTimings {
  double load_seconds = 0;
  double hessian_seconds = 0;
  double eigen_seconds = 0;
  double write_seconds = 0;
  double total_seconds = 0;
};

/// Numbers that have not the proof that they should have.
struct UnprovedAnswers {
  std::string of;                  ///< a checkpoint's file, or words for all of them together
  std::vector<std::string> names;  ///< ANALYZER/NAME
};

struct AnalysisResult {
  std::vector<CheckpointSummary> checkpoints;
  std::vector<HeadlineNumber> run_numbers;  ///< of all checkpoints together
  std::vector<std::string> warnings;
  std::vector<UnprovedAnswers> unproved;  ///< which the last warnings are about; of a new run only
  AnalysisTimings timings;                ///< wall
  /// False when some number is missing for another reason than that mathematics leaves it
  /// undefined.
  bool is_conclusive = true;
  /// Whether the output was there already, complete and of the same request: nothing was computed,
  /// and what is said here was read from it.
  bool is_done_already = false;
  /// What a part has come to, in checkpoints; beside it there are warnings and timings alone.
  std::optional<io::PartOutcome> part = {};
};

/// What a run will need, foreseen without running it.
struct AnalysisPlan {
  std::string model_kind;
  std::size_t num_checkpoints = 0;
  std::size_t num_non_finite = 0;  ///< checkpoints whose weights contain NaN or infinity
  Eigen::Index num_parameters = 0;
  Eigen::Index num_samples = 0;
  std::vector<std::string> analyzers;
  std::vector<std::string> warnings;  ///< of the inputs
  /// Of one Hessian by the structure found in the model's graph: tangents swept through it, and
  /// multiplications with additions of all samples; 0 where another way is taken.
  Eigen::Index hessian_directions = 0;
  double hessian_multiply_adds = 0;
  double peak_memory_bytes = 0;  ///< of each rank, where there are several
  double seconds = 0;            ///< measured on a part of the work and extrapolated
  bool is_done_already = false;  ///< whether the output is there, complete and of this request
  /// Why a run would refuse its output, and what would allow it; empty where it would not.
  std::string output_refusal;
  int num_ranks = 0;    ///< by the method kDistributed; 0 by others
  int grid = 0;         ///< of them, rows and columns
  int threads = 0;      ///< of each
  int ranks_here = 0;   ///< how many of them this machine has the memory for
  int least_ranks = 0;  ///< that would do, one to a machine like this; 0 = none would
};

/// Told where a run, or a part of one, stands: checkpoint `index` of `count`, in the order taken,
/// is done by `fraction`. Returning false asks for the run to stop, by Interrupted.
using AnalysisProgress = std::function<bool(std::size_t index, std::size_t count, double fraction)>;

/// Analyzes the checkpoints and writes the result file.
///
/// Every input is checked before anything is computed. Checkpoints are taken in the order of their
/// steps, run by run (CheckpointReading::order); of a run whose order nothing tells, what compares
/// checkpoints is left out (undefined_no_order). A checkpoint with non-finite weights is
/// recorded with the status non_finite and leaves the others unharmed.
///
/// What each analyzer found for each checkpoint is kept, as soon as it is known, in the folder
/// OUTPUT.units (unit_folder.h). After an interruption of any kind, or an OutputError, the same
/// request continues from there, and the file it ends with is the same to the last byte, the time
/// in its history apart. The folder goes when the file is in place. The same request then finds its
/// own result and says what is in it, unless it may replace it.
///
/// A request for a part ends when its units are kept, also with numbers that failed; the whole run
/// judges them. What parts and the whole run find of each other is as part.h says.
/// @throws ConfigError (also where OUTPUT.units is of another configuration), InputError,
///         OutputError, LockedError; MissingPartsError; Interrupted where progress returned false.
///         Then no output exists that was not there before.
AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress = {});

/// On the other ranks of request.team what run_analysis() is on the first: opens the same inputs
/// and does this rank's share of the work until that ends, or at once where it has nothing to
/// compute. Writes nothing. What goes wrong here is thrown there.
void serve_analysis(Team& team, const std::function<AnalysisRequest()>& request);

/// All groups that a result of run_analysis() can have, the root first, with all variables that
/// they can have, as they lie in the file, without values: what they mean, for people and programs
/// that have no result yet. The order is that of analyzer_kinds().
std::vector<Group> analysis_quantities();

/// Checks the inputs as run_analysis() does and foresees its cost. Nothing is written.
AnalysisPlan plan_analysis(const AnalysisRequest& request);

}  // namespace hesscope
