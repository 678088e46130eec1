// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/analysis/internal/analysis_reading.h>
#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/analysis/internal/point_sequence.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope {
namespace {

using detail::AnalysisInputs;
using detail::ChosenAnalyzer;

const std::string kRoot = "root";

// One run: what is finished is kept unit by unit, then put together.
class Run {
 public:
  Run(const AnalysisRequest& request, const AnalysisProgress& progress)
      : request_(request), progress_(progress), inputs_(timed_inputs()), points_(sequence()) {}

  AnalysisResult execute() {
    if (request_.on_order) request_.on_order(inputs_.checkpoints);
    const io::RunConfiguration configuration = inputs_.configuration(request_);
    detail::UnitRun run(request_.output, "analysis", request_.overwrite, configuration, [&] {
      open_file(configuration);
    });
    if (run.is_done()) {
      AnalysisResult result = detail::read_analysis(request_, inputs_);
      result.timings = result_.timings;
      return result;
    }
    result_.warnings = inputs_.warnings;
    costs_ = foreseen_costs();
    points_.set_costs(costs_.point);
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) compute_missing(run, i);
    assemble(run, configuration);
    const std::vector<std::string>& remarks = run.folder().remarks();
    result_.warnings.insert(result_.warnings.end(), remarks.begin(), remarks.end());
    run.finish();
    return std::move(result_);
  }

 private:
  AnalysisInputs timed_inputs() {
    const Stopwatch watch(result_.timings.load_seconds);
    return detail::open_inputs(request_);
  }

  static std::string unit_name(std::size_t checkpoint, const std::string& group) {
    return fmt::format("{:06}-{}", checkpoint, group);
  }

  detail::AnalysisCosts foreseen_costs() const {
    const detail::ForeseenAnalysis analysis = {.objective = &inputs_.problem.objective(),
                                               .theta = &detail::some_finite(inputs_.points),
                                               .fresh_samples = inputs_.problem.fresh_samples(),
                                               .method = request_.method,
                                               .analyzers = inputs_.analyzers};
    return progress_ ? costs_for_progress(analysis, inputs_.points.size())
                     : guessed_costs(analysis);
  }

  detail::PointSequence sequence() const {
    std::vector<detail::SequencePoint> points;
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) {
      points.push_back({inputs_.checkpoints[i].step, inputs_.optimizers[i]});
    }
    return {{.objective_at = [this](std::size_t i) { return inputs_.objective_at(i); },
             .method = request_.method,
             .seed = request_.seed,
             .runs = inputs_.runs,
             .progress =
                 [this](std::size_t i, double fraction) {
                   return !progress_ || progress_(i, inputs_.checkpoints.size(), fraction);
                 }},
            inputs_.points,
            std::move(points)};
  }

  // The result file with everything declared, and the checkpoints named.
  detail::CheckpointResult open_file(const io::RunConfiguration& configuration) const {
    detail::CheckpointResult file(
        request_.output,
        request_.overwrite != io::Overwrite::kNothing,
        detail::subject_of(inputs_.problem),
        {.subject = "analysis",
         .command = request_.command,
         .seed = request_.seed,
         .num_checkpoints = inputs_.checkpoints.size(),
         .steps = detail::steps_of(inputs_.checkpoints),
         .tensor_map = inputs_.map_text(),
         .definitions = {.step = inputs_.step_definition},
         .quantities = detail::loss_check_quantities(inputs_.expected_losses)},
        configuration);
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      const Objective& objective = inputs_.problem.objective();
      file.add_group(chosen.name,
                     chosen.analyzer->declared(),
                     chosen.analyzer->declared_of_run(),
                     chosen.analyzer->dimensions(objective));
    }
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) {
      file.name_checkpoint(i, inputs_.checkpoints[i], inputs_.digests[i]);
    }
    return file;
  }

  // Computes the units of a checkpoint that are not there yet.
  void compute_missing(detail::UnitRun& run, std::size_t i) {
    const auto is_missing = [&](const std::string& group) {
      return !run.find(unit_name(i, group)).has_value();
    };
    const auto follow = [&](double fraction) {
      if (progress_ && !progress_(i, inputs_.checkpoints.size(), fraction)) throw Interrupted();
    };
    const auto keep = [&](const std::string& group, const Group& record) {
      const Stopwatch watch(result_.timings.write_seconds);
      run.keep(unit_name(i, group), record);
    };
    if (request_.stop.stop_requested()) throw Interrupted();
    std::vector<std::size_t> missing;
    for (std::size_t k = 0; k < inputs_.analyzers.size(); ++k) {
      if (is_missing(inputs_.analyzers[k].name)) missing.push_back(k);
    }
    const bool is_root_missing = is_missing(kRoot);
    if (missing.empty() && !is_root_missing) {
      points_.pass();
      if (has_begun_) follow(1);
      return;
    }
    has_begun_ = true;
    follow(0);
    const std::shared_ptr<PointAnalysis> point = points_.visit(i);
    if (is_root_missing) keep(kRoot, detail::root_record(*point));
    for (const std::size_t k : missing) {
      const ChosenAnalyzer& chosen = inputs_.analyzers[k];
      point->begin_own(costs_.own[k]);
      keep(chosen.name, chosen.analyzer->analyze(*point));
    }
    result_.timings.hessian_seconds += point->seconds().hessian;
    result_.timings.eigen_seconds += point->seconds().eigen;
    point->release();
    follow(1);
  }

  // Puts the units together, in the file and in the summaries.
  void assemble(detail::UnitRun& run, const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    detail::CheckpointResult file = open_file(configuration);
    std::vector<Group> roots;
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) {
      roots.push_back(run.read(unit_name(i, kRoot)));
    }
    const detail::LossCheck check =
        detail::check_losses(inputs_.expected_losses, inputs_.checkpoints, roots);
    result_.warnings.insert(result_.warnings.end(), check.warnings.begin(), check.warnings.end());
    result_.is_conclusive = check.is_as_said;
    std::map<std::string, std::vector<Group>> records;  // of analyzers that are asked of the run
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) {
      file.write(i, "", roots[i]);
      file.write(i, "", check.records[i]);
      detail::add_checkpoint(result_,
                             inputs_.checkpoints[i],
                             inputs_.digests[i],
                             inputs_.points[i].allFinite(),
                             roots[i]);
      for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
        Group record = run.read(unit_name(i, chosen.name));
        file.write(i, chosen.name, record);
        detail::add_record(result_, chosen.name, record);
        if (chosen.analyzer->declared_of_run().variables.empty()) continue;
        records[chosen.name].push_back(std::move(record));
      }
    }
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      if (!records.contains(chosen.name)) continue;
      const Group record = chosen.analyzer->summarize(records.at(chosen.name), request_.seed);
      file.write_of_run(chosen.name, record);
      detail::add_run_record(result_, chosen.name, record);
    }
    file.commit(result_.is_conclusive, result_.warnings);
  }

  const AnalysisRequest& request_;
  const AnalysisProgress& progress_;
  AnalysisResult result_;
  AnalysisInputs inputs_;
  detail::AnalysisCosts costs_;
  detail::PointSequence points_;
  bool has_begun_ = false;  // with what was not there when the run began
};

}  // namespace

AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress) {
  const double start = wall_seconds();
  AnalysisResult result = Run(request, progress).execute();
  result.timings.total_seconds = wall_seconds() - start;
  return result;
}

std::vector<Group> analysis_quantities() {
  std::vector<Group> all = {{.variables = detail::root_quantities()}};
  for (const AnalyzerKind& kind : analyzer_kinds()) all.push_back(declared_quantities(kind));
  return all;
}

}  // namespace hesscope
