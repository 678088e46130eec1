// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analysis_file.h>
#include <hesscope/analyzers/analysis_inputs.h>
#include <hesscope/analyzers/result_root.h>
#include <hesscope/analyzers/unit_run.h>
#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/io/unit_folder.h>

namespace hesscope {
namespace {

using detail::AnalysisInputs;
using detail::ChosenAnalyzer;

const std::string kRoot = "root";

double value_of(const Record& record, const std::string& name) {
  return std::get<Record::Real>(record.entries().at(name)).values.at(0);
}

// A quantity that the analyzer did not set was not computed.
Status status_of(const Record& record, const std::string& name) {
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return Status::kNotComputed;
  const auto* real = std::get_if<Record::Real>(&found->second);
  return real == nullptr ? Status::kOk : real->status;
}

HeadlineNumber headline_number(const std::string& analyzer,
                               const std::string& name,
                               const Record& record) {
  HeadlineNumber number{
      analyzer, name, std::numeric_limits<double>::quiet_NaN(), status_of(record, name)};
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return number;
  if (const auto* real = std::get_if<Record::Real>(&found->second)) {
    if (!real->values.empty()) number.value = real->values.front();
  } else if (const auto* count = std::get_if<std::int64_t>(&found->second)) {
    number.value = static_cast<double>(*count);
    number.is_count = true;
  }
  return number;
}

// One run: what is finished is kept unit by unit, then put together.
class Run {
 public:
  Run(const AnalysisRequest& request, const AnalysisProgress& progress)
      : request_(request), progress_(progress), inputs_(timed_inputs()) {}

  AnalysisResult execute() {
    result_.warnings = inputs_.warnings;
    const io::RunConfiguration configuration = inputs_.configuration(request_);
    const detail::UnitRun run(
        request_.output, request_.overwrite, configuration, [&] { open_file(configuration); });
    for (std::size_t i = 0; i < request_.checkpoints.size(); ++i) work_off(run, i);
    assemble(run, configuration);
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

  std::shared_ptr<PointAnalysis> make_point(std::size_t i) {
    const auto follow = [this, i](double fraction) {
      return !progress_ || progress_(i, request_.checkpoints.size(), fraction);
    };
    auto point = std::make_shared<PointAnalysis>(
        inputs_.problem.objective(),
        inputs_.points[i],
        PointAnalysis::Options{
            .method = request_.method, .seed = request_.seed, .progress = follow});
    point->set_adam_state(inputs_.adam_states[i]);
    point->set_fresh_samples(inputs_.problem.fresh_samples());
    point->set_model_samples(
        {.model = &inputs_.problem.model(), .samples = &inputs_.problem.samples()});
    find_trajectory(i);
    point->set_trajectory(trajectory_, i - first_of_trajectory_);
    return point;
  }

  // The checkpoints around this one as far as their steps go up. Folders of several training runs
  // may be given one after the other.
  void find_trajectory(std::size_t i) {
    if (trajectory_ != nullptr && i >= first_of_trajectory_ &&
        i < first_of_trajectory_ + trajectory_->size()) {
      return;
    }
    const auto begins_anew = [this](std::size_t k) {
      const auto& before = request_.checkpoints[k - 1].step;
      const auto& step = request_.checkpoints[k].step;
      return before && step && *step <= *before;
    };
    std::size_t first = i;
    while (first > 0 && !begins_anew(first)) --first;
    std::size_t end = i + 1;
    while (end < request_.checkpoints.size() && !begins_anew(end)) ++end;
    trajectory_ =
        std::make_shared<Trajectory>(std::span(inputs_.points).subspan(first, end - first));
    first_of_trajectory_ = first;
  }

  // The result file with everything declared, and the checkpoints named.
  detail::AnalysisFile open_file(const io::RunConfiguration& configuration) const {
    detail::AnalysisFile file(request_, inputs_, configuration);
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      file.add_group(chosen.name, *chosen.analyzer, inputs_.problem.objective());
    }
    for (std::size_t i = 0; i < request_.checkpoints.size(); ++i) {
      file.name_checkpoint(i, request_.checkpoints[i], inputs_.digests[i]);
    }
    return file;
  }

  // Computes the units of a checkpoint that are not there yet.
  void work_off(const detail::UnitRun& run, std::size_t i) {
    const auto is_missing = [&](const std::string& group) {
      return !run.find(unit_name(i, group)).has_value();
    };
    const auto follow = [&](double fraction) {
      if (progress_ && !progress_(i, request_.checkpoints.size(), fraction)) throw Interrupted();
    };
    const auto keep = [&](const std::string& group, const Record& record) {
      const Stopwatch watch(result_.timings.write_seconds);
      run.keep(unit_name(i, group), record);
    };
    follow(0);
    std::vector<const ChosenAnalyzer*> missing;
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      if (is_missing(chosen.name)) missing.push_back(&chosen);
    }
    const bool is_root_missing = is_missing(kRoot);
    if (missing.empty() && !is_root_missing) {
      last_point_.reset();
      follow(1);
      return;
    }
    const std::shared_ptr<PointAnalysis> point = make_point(i);
    if (point->index() == 0) {
      last_point_.reset();  // what came before is of another run
    } else if (last_point_ == nullptr) {
      last_point_ = make_point(i - 1);
    }
    point->set_previous(std::exchange(last_point_, point));
    if (is_root_missing) keep(kRoot, detail::root_record(*point));
    for (const ChosenAnalyzer* chosen : missing)
      keep(chosen->name, chosen->analyzer->analyze(*point));
    result_.timings.hessian_seconds += point->seconds().hessian;
    result_.timings.eigen_seconds += point->seconds().eigen;
    point->release();
    follow(1);
  }

  // Puts the units together, in the file and in the summaries.
  void assemble(const detail::UnitRun& run, const io::RunConfiguration& configuration) {
    const Stopwatch watch(result_.timings.write_seconds);
    std::optional<detail::AnalysisFile> file;
    if (!run.is_published()) file.emplace(open_file(configuration));
    std::map<std::string, std::vector<Record>> records;  // of analyzers that are asked of the run
    for (std::size_t i = 0; i < request_.checkpoints.size(); ++i) {
      const Record root = run.read(unit_name(i, kRoot));
      result_.checkpoints.push_back(summarize(i, root));
      if (file) file->write_record(i, "", root);
      for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
        Record record = run.read(unit_name(i, chosen.name));
        if (file) file->write_record(i, chosen.name, record);
        collect(chosen, record, result_.checkpoints.back());
        if (chosen.analyzer->run_quantities().empty()) continue;
        records[chosen.name].push_back(std::move(record));
      }
    }
    for (const ChosenAnalyzer& chosen : inputs_.analyzers) {
      if (!records.contains(chosen.name)) continue;
      const Record record = chosen.analyzer->summarize(records.at(chosen.name), request_.seed);
      if (file) file->write_run_record(chosen.name, record);
      for (const std::string& name : chosen.analyzer->run_headline()) {
        result_.run_numbers.push_back(headline_number(chosen.name, name, record));
      }
    }
    if (file) file->commit(result_.is_conclusive);
  }

  CheckpointSummary summarize(std::size_t i, const Record& root) {
    CheckpointSummary summary{.checkpoint = request_.checkpoints[i],
                              .sha256 = inputs_.digests[i],
                              .loss = value_of(root, "loss"),
                              .gradient_norm = value_of(root, "gradient_norm"),
                              .status = status_of(root, "loss"),
                              .numbers = {}};
    if (summary.status != Status::kOk) {
      result_.is_conclusive = false;
      result_.warnings.push_back(
          fmt::format("{}: the {} not finite; recorded as non_finite",
                      summary.checkpoint.path.string(),
                      inputs_.points[i].allFinite() ? "loss or gradient is" : "weights are"));
    }
    return summary;
  }

  // Takes an analyzer's headline numbers into the summary and its failures into the warnings.
  void collect(const ChosenAnalyzer& chosen, const Record& record, CheckpointSummary& summary) {
    for (const std::string& name : chosen.analyzer->headline()) {
      summary.numbers.push_back(headline_number(chosen.name, name, record));
    }
    const auto warn = [&](const std::string& name, std::string_view what) {
      result_.is_conclusive = false;
      if (summary.status != Status::kOk) return;  // said already
      result_.warnings.push_back(
          fmt::format("{}: {}/{}: {}", summary.checkpoint.path.string(), chosen.name, name, what));
    };
    for (const Quantity& quantity : chosen.analyzer->quantities()) {
      const Status status = status_of(record, quantity.name);
      // An analyzer that says itself that it did not compute something was not asked to.
      const bool is_left_out =
          status == Status::kNotComputed && record.entries().contains(quantity.name);
      if (!is_conclusive(status) && !is_left_out) warn(quantity.name, to_string(status));
    }
    for (const std::string& name : record.unproved()) {
      warn(name, "converged without a count, so another eigenvalue may have been missed");
    }
  }

  const AnalysisRequest& request_;
  const AnalysisProgress& progress_;
  AnalysisResult result_;
  AnalysisInputs inputs_;
  std::shared_ptr<PointAnalysis> last_point_;
  std::shared_ptr<Trajectory> trajectory_;  // of the point made last
  std::size_t first_of_trajectory_ = 0;
};

}  // namespace

AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress) {
  double seconds = 0;
  std::optional<Stopwatch> watch(seconds);
  AnalysisResult result = Run(request, progress).execute();
  watch.reset();
  result.timings.total_seconds = seconds;
  return result;
}

}  // namespace hesscope
