// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/internal/measure_request.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::detail {
namespace {

std::vector<CheckpointFile> checkpoints_of(const TrainedRun& run,
                                           const ExperimentMeasure& measure) {
  std::vector<CheckpointFile> found;
  for (const CheckpointFile& file : expand_checkpoints({run.folder})) {
    if (measure.checkpoints.empty() ||
        std::find(measure.checkpoints.begin(), measure.checkpoints.end(), *file.step) !=
            measure.checkpoints.end()) {
      found.push_back(file);
    }
  }
  return found;
}

// The problem of the training, or one with as many samples as the measure asks for.
std::filesystem::path problem_of(const ExperimentDocument& document,
                                 const ExperimentMeasure& measure,
                                 const TrainedRun& run) {
  if (!measure.samples) return run.folder / "problem.toml";
  ExperimentFile experiment = find_or_null(document.variants, run.variant)->experiment;
  experiment.evaluation.samples = measure.samples;
  std::filesystem::path path = run.folder / fmt::format("problem-{}.toml", measure.name);
  const std::string text = experiment.problem_toml(run.folder);
  std::error_code none;  // a missing file is written
  const bool is_there =
      std::filesystem::file_size(path, none) == text.size() && io::begins_with(path, {text});
  if (!is_there) io::write_whole(path, text, io::Existing::kReplace);
  return path;
}

}  // namespace

AnalysisRequest measure_request(const ExperimentDocument& document,
                                const ExperimentMeasure& measure,
                                const TrainedRun& run) {
  AnalysisRequest request;
  request.checkpoints = checkpoints_of(run, measure);
  if (request.checkpoints.empty()) return request;
  request.problem = problem_of(document, measure, run);
  request.output = run.folder / (measure.name + ".h5");
  request.only = measure.analyzers;
  request.options = measure.options;
  request.method = measure.method;
  request.seed = measure.seed;
  return request;
}

}  // namespace hesscope::detail
