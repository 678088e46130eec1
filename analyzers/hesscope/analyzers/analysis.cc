// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/analyzers/analysis_file.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/io/file_lock.h>
#include <hesscope/io/result_reader.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/objective/hessian_cost.h>
#include <hesscope/problem/problem.h>

namespace hesscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct NamedAnalyzer {
  std::string name;
  std::unique_ptr<Analyzer> analyzer;
};

// The analyzers asked for, in the registry's order whatever the order asked in.
std::vector<NamedAnalyzer> chosen_analyzers(const AnalysisRequest& request) {
  std::set<std::string> wanted;
  for (const std::string& name : request.only) wanted.insert(find_analyzer(name).name);
  for (const std::string& name : request.also) wanted.insert(find_analyzer(name).name);
  std::map<std::string, SettingValue> unclaimed = request.options;
  std::vector<std::string> option_names;
  std::vector<NamedAnalyzer> chosen;
  for (const AnalyzerEntry& entry : analyzer_registry()) {
    std::map<std::string, SettingValue> given;
    for (const SettingKey& key : entry.options) {
      option_names.push_back(key.name);
      if (auto node = unclaimed.extract(key.name)) given.insert(std::move(node));
    }
    const bool is_default = entry.by_default && request.only.empty();
    if (is_default || !given.empty() || wanted.contains(entry.name)) {
      const Settings settings =
          Settings::checked(given, entry.options, fmt::format("analyzer '{}'", entry.name));
      chosen.push_back({entry.name, entry.create(settings)});
    }
  }
  if (!unclaimed.empty()) {
    const std::string& name = unclaimed.begin()->first;
    throw ConfigError(
        fmt::format("no analyzer has an option '{}'{}", name, did_you_mean(name, option_names)));
  }
  return chosen;
}

// Replacing an input by the result would destroy what the result is about.
void require_output_apart(const AnalysisRequest& request, const ProblemFile& problem) {
  std::vector<std::filesystem::path> paths = {problem.path, problem.data_path};
  for (const CheckpointFile& checkpoint : request.checkpoints) paths.push_back(checkpoint.path);
  for (const std::filesystem::path& path : paths) {
    std::error_code none;  // an output that does not exist yet is no input
    if (std::filesystem::equivalent(path, request.output, none)) {
      throw ConfigError(fmt::format("{}: the output is an input of the same run; name another",
                                    request.output.string()));
    }
  }
}

io::TensorFile open_checkpoint(const std::filesystem::path& path) {
  if (io::is_result_file(path)) {
    throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path.string()));
  }
  return io::open_tensor_file(path);
}

// A request with its inputs opened and checked against each other.
struct Inputs {
  explicit Inputs(const AnalysisRequest& request)
      : analyzers(chosen_analyzers(request)), problem(load(request)) {
    for (const CheckpointFile& checkpoint : request.checkpoints) {
      const io::TensorFile file = open_checkpoint(checkpoint.path);
      points.push_back(problem.read_parameters(file));
      adam_states.push_back(problem.read_adam_state(file));
      digests.push_back(io::sha256_of_file(checkpoint.path));
    }
    require_output_apart(request, problem.file());
  }

  static Problem load(const AnalysisRequest& request) {
    if (request.checkpoints.empty()) throw PreconditionError("run_analysis: no checkpoints");
    ProblemFile file = read_problem_file(request.problem);
    return {
        std::move(file), open_checkpoint(request.checkpoints.front().path), request.num_threads};
  }

  std::vector<NamedAnalyzer> analyzers;
  Problem problem;
  std::vector<Eigen::VectorXd> points;  // of the checkpoints, in order
  std::vector<std::optional<AdamState>> adam_states;
  std::vector<std::string> digests;  // SHA-256 of the checkpoints, taken when they were read
};

CheckpointSummary summarize_point(const CheckpointFile& checkpoint,
                                  const std::string& sha256,
                                  PointAnalysis& point) {
  CheckpointSummary summary{.checkpoint = checkpoint,
                            .sha256 = sha256,
                            .loss = point.loss(),
                            .gradient_norm = point.gradient().norm(),
                            .status = Status::kOk,
                            .numbers = {}};
  if (point.status() != Status::kOk || !std::isfinite(summary.gradient_norm)) {
    summary.status = Status::kNonFinite;
    summary.loss = summary.gradient_norm = std::numeric_limits<double>::quiet_NaN();
  }
  return summary;
}

// One of an analyzer's headline numbers. A count has no status of its own: where the record lacks
// it, it is missing for `reason`.
HeadlineNumber headline_number(const std::string& analyzer,
                               const std::string& name,
                               const Record& record,
                               Status reason) {
  HeadlineNumber number{analyzer, name, std::numeric_limits<double>::quiet_NaN(), reason};
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return number;
  if (const auto* real = std::get_if<Record::Real>(&found->second)) {
    number.status = real->status;
    if (!real->values.empty()) number.value = real->values.front();
  } else if (const auto* count = std::get_if<std::int64_t>(&found->second)) {
    number.status = Status::kOk;
    number.value = static_cast<double>(*count);
    number.is_count = true;
  }
  return number;
}

// A quantity that the analyzer did not set was not computed.
Status status_of(const Record& record, const std::string& name) {
  const auto found = record.entries().find(name);
  if (found == record.entries().end()) return Status::kNotComputed;
  const auto* real = std::get_if<Record::Real>(&found->second);
  return real == nullptr ? Status::kOk : real->status;
}

// Takes an analyzer's headline numbers into the summary and its failures into the warnings.
void collect(const NamedAnalyzer& named,
             const Record& record,
             Status reason,
             CheckpointSummary& summary,
             AnalysisResult& result) {
  for (const std::string& name : named.analyzer->headline()) {
    summary.numbers.push_back(headline_number(named.name, name, record, reason));
  }
  for (const Quantity& quantity : named.analyzer->quantities()) {
    const Status status = status_of(record, quantity.name);
    // An analyzer that says itself that it did not compute something was not asked to.
    const bool is_left_out =
        status == Status::kNotComputed && record.entries().contains(quantity.name);
    if (is_conclusive(status) || is_left_out) continue;
    result.is_conclusive = false;
    if (summary.status == Status::kOk) {
      result.warnings.push_back(fmt::format("{}: {}/{}: {}",
                                            summary.checkpoint.path.string(),
                                            named.name,
                                            quantity.name,
                                            to_string(status)));
    }
  }
  for (const std::string& name : record.unproved()) {
    result.is_conclusive = false;
    result.warnings.push_back(
        fmt::format("{}: {}/{}: converged without a count, so another eigenvalue may have been "
                    "missed",
                    summary.checkpoint.path.string(),
                    named.name,
                    name));
  }
}

}  // namespace

AnalysisResult run_analysis(const AnalysisRequest& request, const AnalysisProgress& progress) {
  const Clock::time_point start = Clock::now();
  const Inputs inputs(request);
  AnalysisResult result;
  result.timings.load_seconds = seconds_since(start);

  const Objective& objective = inputs.problem.objective();
  double write_seconds = 0;
  const auto timed_write = [&write_seconds](auto write) {
    const Clock::time_point begin = Clock::now();
    write();
    write_seconds += seconds_since(begin);
  };

  detail::AnalysisFile file(request, inputs.problem);
  const io::FileLock lock(request.output);
  for (const NamedAnalyzer& named : inputs.analyzers) {
    file.add_group(named.name, *named.analyzer, objective);
  }
  const std::size_t count = request.checkpoints.size();
  std::shared_ptr<PointAnalysis> last_point;
  for (std::size_t i = 0; i < count; ++i) {
    const auto follow = [&, i](double fraction) {
      return !progress || progress(i, count, fraction);
    };
    if (!follow(0)) throw Interrupted();
    const auto shared_point = std::make_shared<PointAnalysis>(
        objective,
        inputs.points[i],
        PointAnalysis::Options{.method = request.method, .seed = request.seed, .progress = follow});
    PointAnalysis& point = *shared_point;
    point.set_adam_state(inputs.adam_states[i]);
    point.set_previous(std::exchange(last_point, shared_point));
    CheckpointSummary summary = summarize_point(request.checkpoints[i], inputs.digests[i], point);
    if (summary.status != Status::kOk) {
      result.is_conclusive = false;
      result.warnings.push_back(
          fmt::format("{}: the {} not finite; recorded as non_finite",
                      summary.checkpoint.path.string(),
                      point.theta().allFinite() ? "loss or gradient is" : "weights are"));
    }
    timed_write([&] { file.write_root(i, summary); });
    for (const NamedAnalyzer& named : inputs.analyzers) {
      const Record record = named.analyzer->analyze(point);
      timed_write([&] { file.write_record(i, named.name, record); });
      const Status hessian = point.hessian_status();
      const Status reason = hessian == Status::kOk ? Status::kNotComputed : hessian;
      collect(named, record, reason, summary, result);
    }
    result.timings.hessian_seconds += point.seconds().hessian;
    result.timings.eigen_seconds += point.seconds().eigen;
    result.checkpoints.push_back(std::move(summary));
    point.release();
    if (!follow(1)) throw Interrupted();
  }
  timed_write([&] { file.commit(); });
  result.timings.write_seconds = write_seconds;
  result.timings.total_seconds = seconds_since(start);
  return result;
}

AnalysisPlan plan_analysis(const AnalysisRequest& request) {
  const Inputs inputs(request);
  const Objective& objective = inputs.problem.objective();
  AnalysisPlan plan;
  plan.model_kind = inputs.problem.model().kind;
  plan.num_checkpoints = request.checkpoints.size();
  plan.num_parameters = objective.num_parameters();
  plan.num_samples = objective.num_samples();
  for (const NamedAnalyzer& named : inputs.analyzers) plan.analyzers.push_back(named.name);
  plan.num_non_finite = static_cast<std::size_t>(
      std::count_if(inputs.points.begin(), inputs.points.end(), [](const Eigen::VectorXd& point) {
        return !point.allFinite();
      }));

  const HessianCost cost = estimate_hessian_cost(objective, inputs.points.front());
  const double n = static_cast<double>(plan.num_parameters);
  // Tridiagonalisation dominates the decomposition: 4/3 n^3 operations, half of them bound by
  // memory.
  constexpr double kEigenFlopsPerSecond = 5e9;
  const double eigen_seconds = 4.0 / 3.0 * n * n * n / kEigenFlopsPerSecond;
  const double matrix_bytes = n * n * sizeof(double);
  plan.seconds = static_cast<double>(plan.num_checkpoints) * (cost.seconds + eigen_seconds);
  // The decomposition, and storing the matrix, hold one copy of it.
  plan.peak_memory_bytes = cost.memory_bytes + matrix_bytes;
  return plan;
}

}  // namespace hesscope
