// SPDX-License-Identifier: BSD-3-Clause
//
// What analyses, landscapes and paths of checkpoints have in common.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/core/team.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/part.h>

namespace hesscope {

/// What a run on checkpoints reads and writes.
struct CheckpointRunRequest {
  std::vector<CheckpointFile> checkpoints;  ///< at least one; taken in the order of their steps
  CheckpointReading reading;
  std::filesystem::path problem;                      ///< problem file
  std::filesystem::path output;                       ///< result file
  io::Overwrite overwrite = io::Overwrite::kNothing;  ///< what may be replaced there
  io::Share share = {};                               ///< how the work is divided among parts
  /// The team whose first rank is this process; the others call serve_analysis(),
  /// serve_landscape() or serve_path() meanwhile. null = none.
  std::shared_ptr<Team> team = {};
  /// The command that asks for this result, for the provenance; options that cannot change a result
  /// (threads, the output's name) should be left out so that equal results are equal files.
  std::string command;
};

/// A number worth showing.
struct HeadlineNumber {
  std::string analyzer;
  std::string name;
  double value;  ///< NaN unless status is kOk
  Status status;
  bool is_count = false;  ///< the value is a whole number
  std::string word = {};  ///< meaning of the value of a flag
  bool is_zero = false;   ///< an eigenvalue that is zero within rounding
};

struct CheckpointSummary {
  CheckpointFile checkpoint;
  std::string sha256;
  double loss;
  double gradient_norm;
  Status status;                        ///< of loss and gradient
  std::vector<HeadlineNumber> numbers;  ///< the same names in the same order for every checkpoint
};

/// What a run on checkpoints returns. For a part, only `part`, warnings and timings are set.
struct CheckpointRunResult {
  std::vector<CheckpointSummary> checkpoints;
  std::vector<std::string> warnings;
  /// False if a number is missing for any reason other than being mathematically undefined.
  bool is_conclusive = true;
  /// Whether the output already existed, complete and of the same request. Then nothing was
  /// computed, and everything here was read from it.
  bool is_done_already = false;
  std::optional<io::PartOutcome> part = {};  ///< what a part has done, in what is divided
};

/// What a run on checkpoints will need, estimated without running it.
struct CheckpointRunPlan {
  std::string model_kind;
  Eigen::Index num_parameters = 0;
  Eigen::Index num_samples = 0;
  std::vector<std::string> warnings;  ///< about the inputs
  double peak_memory_bytes = 0;       ///< of each rank, if there are several
  double seconds = 0;                 ///< measured on a part of the work and extrapolated
  bool is_done_already = false;       ///< whether the output is there, complete and of this request
  /// Why a run would refuse its output, and what would allow it; empty if it would not.
  std::string output_refusal;
};

}  // namespace hesscope
