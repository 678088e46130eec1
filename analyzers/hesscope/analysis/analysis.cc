// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/internal/analysis_costs.h>
#include <hesscope/analysis/internal/analysis_inputs.h>
#include <hesscope/analysis/internal/analysis_reading.h>
#include <hesscope/analysis/internal/analysis_summary.h>
#include <hesscope/analysis/internal/checked_answers.h>
#include <hesscope/analysis/internal/checkpoint_records.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/point_sequence.h>
#include <hesscope/analysis/internal/run_steps.h>
#include <hesscope/analysis/internal/team_session.h>
#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope {
namespace {

using detail::AnalysisInputs;
using detail::ChosenAnalyzer;

// One run: finished work is kept unit by unit, then put together.
class Run {
 public:
  Run(const AnalysisRequest& request, const AnalysisProgress& progress)
      : request_(request), progress_(progress), inputs_(timed_inputs()), points_(sequence()) {
    const std::size_t count = inputs_.checkpoints.size();
    std::tie(first_, last_) =
        request.share.part ? request.share.part->range(count) : std::pair(std::size_t{0}, count);
    result_.num_parameters = inputs_.problem.objective().num_parameters();
    result_.num_samples = inputs_.problem.objective().num_samples();
  }

  AnalysisResult execute() {
    if (request_.on_order) {
      request_.on_order(std::span(inputs_.checkpoints).subspan(first_, last_ - first_));
    }
    const io::RunConfiguration configuration = inputs_.configuration(request_);
    detail::run_steps(request_,
                      inputs_,
                      "analysis",
                      configuration,
                      {.probe = [&] { open_file(configuration, declared_dimensions()); },
                       .read = [&] { detail::read_analysis(request_, inputs_, result_); },
                       .compute = [&](detail::UnitRun& run) { compute(run); },
                       .assemble = [&](detail::UnitRun& run) { assemble(run, configuration); }},
                      result_);
    return std::move(result_);
  }

 private:
  AnalysisInputs timed_inputs() {
    const Stopwatch watch(result_.timings.load_seconds);
    return detail::open_inputs(request_);
  }

  detail::AnalysisCosts foreseen_costs() const {
    const detail::ForeseenAnalysis analysis = {.objective = &inputs_.problem.objective(),
                                               .theta = &detail::some_finite(inputs_.points),
                                               .fresh_samples = inputs_.problem.fresh_samples(),
                                               .method = request_.method,
                                               .num_ranks = request_.num_ranks(),
                                               .grid = request_.grid(),
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
             .solver = request_.solver.get(),
             .proves_fully = inputs_.proves_fully,
             .seed = request_.seed,
             .given_settings = detail::given_settings(inputs_.analyzers),
             .runs = inputs_.runs,
             .progress = [this](std::size_t i, double fraction) { return goes_on(i, fraction); }},
            inputs_.points,
            std::move(points)};
  }

  // The dimensions of each analyzer's group in the file, before there is any answer.
  std::vector<std::vector<Dimension>> declared_dimensions() const {
    std::vector<std::vector<Dimension>> all;
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      all.push_back(chosen.analyzer->dimensions(inputs_.problem.objective()));
    }
    return all;
  }

  // The same once all answers are known: checkpoints with buffers of their own may add labels.
  std::vector<std::vector<Dimension>> found_dimensions(detail::UnitRun& run) const {
    std::vector<std::vector<Dimension>> all = declared_dimensions();
    const auto is_own = [](const auto& buffers) { return buffers != nullptr; };
    if (std::ranges::none_of(inputs_.buffers, is_own)) return all;
    for (std::size_t k = 0; k < inputs_.analyzers.size(); ++k) {
      const ChosenAnalyzer& chosen = inputs_.analyzers[k];
      if (!chosen.analyzer->has_own_dimensions()) continue;
      all[k] = run.read(detail::unit_name(0, chosen.name)).dimensions;
      for (std::size_t i = 1; i < inputs_.checkpoints.size(); ++i) {
        detail::add_labels(run.read(detail::unit_name(i, chosen.name)).dimensions, all[k]);
      }
    }
    return all;
  }

  // Opens the result file with everything declared and the checkpoints named.
  detail::CheckpointResult open_file(const io::RunConfiguration& configuration,
                                     const std::vector<std::vector<Dimension>>& dimensions) const {
    detail::CheckpointResult file(
        request_.output,
        io::existing_of(request_.overwrite),
        detail::subject_of(inputs_.problem),
        detail::provenance_of(inputs_, "analysis", request_.command, request_.seed),
        configuration);
    for (std::size_t k = 0; k < inputs_.analyzers.size(); ++k) {
      const ChosenAnalyzer& chosen = inputs_.analyzers[k];
      file.add_group(chosen.name,
                     chosen.analyzer->declared(),
                     chosen.analyzer->declared_of_run(),
                     dimensions[k]);
    }
    detail::name_checkpoints(inputs_, file);
    return file;
  }

  // Reports how far checkpoint i is. @returns whether to continue.
  bool goes_on(std::size_t i, double fraction) const {
    return !progress_ || progress_(i - std::min(first_, i), last_ - first_, fraction);
  }

  // The units of a checkpoint that are missing.
  struct Missing {
    bool root = false;
    std::vector<std::size_t> analyzers = {};  // by their places

    bool is_empty() const { return !root && analyzers.empty(); }
  };

  Missing missing_of(detail::UnitRun& run, std::size_t i) const {
    Missing missing{.root = !run.find(detail::unit_name(i, detail::kRootUnit))};
    for (std::size_t k = 0; k < inputs_.analyzers.size(); ++k) {
      if (!run.find(detail::unit_name(i, inputs_.analyzers[k].name)))
        missing.analyzers.push_back(k);
    }
    return missing;
  }

  void require_all(detail::UnitRun& run) const {
    const std::size_t count = inputs_.checkpoints.size();
    std::vector<std::size_t> missing;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
      if (missing_of(run, i).is_empty()) continue;
      missing.push_back(i);
      names.push_back(inputs_.checkpoints[i].path.string());
    }
    if (missing.empty()) return;
    run.refuse_merge(names, [&](const io::Part& part) {
      const auto range = part.range(count);
      return std::ranges::any_of(
          missing, [&](std::size_t i) { return i >= range.first && i < range.second; });
    });
  }

  // Computes the missing units; a part computes only its own, and a merge none.
  void compute(detail::UnitRun& run) {
    if (request_.share.merge_only) {
      require_all(run);
      return;
    }
    std::size_t num_found = 0;
    for (std::size_t i = first_; i < last_; ++i) {
      if (request_.stop.stop_requested()) throw Interrupted();
      const Missing missing = missing_of(run, i);
      if (missing.is_empty()) {
        points_.pass();
        ++num_found;
        if (has_begun_ && !goes_on(i, 1)) throw Interrupted();
      } else {
        compute_missing(run, i, missing);
      }
    }
    if (!request_.share.part) return;
    run.flush();
    result_.part = {.part = *request_.share.part,
                    .num_units = inputs_.checkpoints.size(),
                    .num_own = last_ - first_,
                    .num_found = num_found};
  }

  void compute_missing(detail::UnitRun& run, std::size_t i, const Missing& missing) {
    const auto follow = [&](double fraction) {
      if (!goes_on(i, fraction)) throw Interrupted();
    };
    const auto keep = [&](const std::string& group, const Group& record) {
      const Stopwatch watch(result_.timings.write_seconds);
      run.keep(detail::unit_name(i, group), record);
    };
    if (!has_begun_) {
      costs_ = foreseen_costs();
      points_.set_costs(costs_.point);
    }
    has_begun_ = true;
    follow(0);
    const std::shared_ptr<PointAnalysis> point = points_.visit(i);
    if (missing.root) keep(detail::kRootUnit, detail::root_record(*point));
    for (const std::size_t k : missing.analyzers) {
      const ChosenAnalyzer& chosen = inputs_.analyzers[k];
      point->begin_own(costs_.own[k]);
      keep(chosen.name, detail::answer_at(chosen, *point));
    }
    result_.timings.hessian_seconds += point->seconds().hessian;
    result_.timings.eigen_seconds += point->seconds().eigen;
    point->release();
    follow(1);
  }

  // Puts the units together in the file and in the summaries.
  void assemble(detail::UnitRun& run, const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    const std::vector<std::vector<Dimension>> dimensions = found_dimensions(run);
    detail::CheckpointResult file = open_file(configuration, dimensions);
    const auto [roots, checks] = detail::kept_roots(run, inputs_, result_);
    std::map<std::string, std::vector<Group>> records;  // of analyzers that summarize the run
    for (std::size_t i = 0; i < inputs_.checkpoints.size(); ++i) {
      file.write(i, "", roots[i]);
      file.write(i, "", checks[i]);
      detail::add_checkpoint(result_,
                             inputs_.checkpoints[i],
                             inputs_.digests[i],
                             inputs_.points[i].allFinite(),
                             roots[i]);
      for (std::size_t k = 0; k < inputs_.analyzers.size(); ++k) {
        const ChosenAnalyzer& chosen = inputs_.analyzers[k];
        Group record = run.read(detail::unit_name(i, chosen.name));
        if (chosen.analyzer->has_own_dimensions()) {
          record = chosen.analyzer->spread(std::move(record), dimensions[k]);
        }
        file.write(i, chosen.name, record);
        const std::string reason = chosen.analyzer->reason_of_failure(
            record, inputs_.problem.objective().parameter_blocks());
        detail::add_record(result_, chosen.name, record, reason);
        if (chosen.analyzer->declared_of_run().variables.empty()) continue;
        records[chosen.name].push_back(std::move(record));
      }
    }
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      if (!records.contains(chosen.name)) continue;
      const Group record = detail::answer_of_run(
          chosen, inputs_.problem.objective(), records.at(chosen.name), request_.seed);
      file.write_of_run(chosen.name, record);
      detail::add_run_record(result_, chosen.name, record);
    }
    detail::warn_of_unproved(result_);
    file.commit(result_.is_conclusive, result_.warnings);
  }

  const AnalysisRequest& request_;
  const AnalysisProgress& progress_;
  AnalysisResult result_;
  AnalysisInputs inputs_;
  detail::AnalysisCosts costs_;
  detail::PointSequence points_;
  std::size_t first_ = 0;  // the run's checkpoints: [first_, last_)
  std::size_t last_ = 0;
  bool has_begun_ = false;  // whether the first missing unit was started
};

}  // namespace

AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress) {
  const double start = wall_seconds();
  AnalysisResult result = Run(request, progress).execute();
  result.timings.total_seconds = wall_seconds() - start;
  return result;
}

void serve_analysis(Team& team, const std::function<AnalysisRequest()>& request) {
  detail::serve_inputs(team, [&] {
    const AnalysisRequest asked = request();
    const auto inputs = std::make_shared<const AnalysisInputs>(detail::open_inputs(asked));
    return detail::ServedInputs{
        inputs, inputs->configuration(asked), asked.solver, inputs->proves_fully};
  });
}

std::vector<Group> analysis_quantities() {
  std::vector<Group> all = {{.variables = detail::root_quantities()}};
  for (const AnalyzerKind& kind : analyzer_kinds()) all.push_back(declared_quantities(kind));
  return all;
}

}  // namespace hesscope
